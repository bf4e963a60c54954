"""Index pairs of characters for the search of a Chinese site, because spaces do not separate Chinese words."""

from __future__ import annotations

import re

from sphinx.search.en import SearchEnglish

WORD_OR_CHINESE_RUN = re.compile(r"[\u3400-\u9fff]+|[^\W\u3400-\u9fff]+")


class SearchChinese(SearchEnglish):
    """A splitter that divides Chinese text into overlapping character pairs, and treats other words as English.

    A query is split in the same way, so a phrase is found on each page that contains all of its pairs.
    """

    lang = "zh"
    js_splitter_code = r"""
var splitQuery = (query) => {
  const runs = query.match(/[\u3400-\u9fff]+|(?:(?![\u3400-\u9fff])[\p{Letter}\p{Number}_])+/gu) || [];
  return runs.flatMap((run) =>
    /^[\u3400-\u9fff]{2}/.test(run)
      ? Array.from({ length: run.length - 1 }, (_, start) => run.slice(start, start + 2))
      : [run],
  );
};
"""

    def split(self, text: str) -> list[str]:
        """Return the words in a text and the overlapping pairs of Chinese characters.

        >>> SearchChinese({}).split("求二阶导数 GradientTape")
        ['求二', '二阶', '阶导', '导数', 'GradientTape']
        """
        words = []
        for run in WORD_OR_CHINESE_RUN.findall(text):
            is_chinese = "\u3400" <= run[0] <= "\u9fff"
            if is_chinese and len(run) > 1:
                words += [run[start : start + 2] for start in range(len(run) - 1)]
            else:
                words.append(run)
        return words
