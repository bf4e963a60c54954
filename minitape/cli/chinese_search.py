"""Index pairs of characters for searching a Chinese site, because spaces do not separate Chinese words."""

import re
from itertools import pairwise

from sphinx.search.en import SearchEnglish

WORD_OR_CHINESE_RUN = re.compile(r"[\u3400-\u9fff]+|[^\W\u3400-\u9fff]+")


class SearchChinese(SearchEnglish):
    """A splitter that divides Chinese text into overlapping character pairs and treats other words as English.

    A query is split in the same way. ``site_settings/static/search.js`` ranks the pages that contain at least a
    fifth of the query's pairs and words, weighted by how rare they are.
    """

    lang = "zh"
    js_splitter_code = r"""
var splitQuery = (query) => {
  // The words of a question are on too many pages to tell them apart.
  const words = query.replace(/怎么办|怎么样|怎么|怎样|如何|为什么|为何|什么|是不是|请问|[吗呢？]/g, " ");
  const run = /[\u3400-\u9fff]+|(?:(?![\u3400-\u9fff])[\p{Letter}\p{Number}_])+/gu;
  const runs = (words.trim() || query).match(run) || [];
  return runs.flatMap((run) =>
    /^[\u3400-\u9fff]{2}/.test(run)
      ? Array.from({ length: run.length - 1 }, (_, start) => run.slice(start, start + 2))
      : [run],
  );
};
"""

    def split(self, text: str) -> list[str]:
        """Return the words in a text and the overlapping pairs of Chinese characters.

        Args:
            text: Text in Chinese, English, or both.

        >>> SearchChinese({}).split("求二阶导数 GradientTape")
        ['求二', '二阶', '阶导', '导数', 'GradientTape']
        """
        words = []
        for run in WORD_OR_CHINESE_RUN.findall(text):
            is_chinese = "\u3400" <= run[0] <= "\u9fff"
            words += [*map("".join, pairwise(run))] if is_chinese and len(run) > 1 else [run]
        return words
