// Search for questions as people type them. Sphinx lists only the pages that contain every word of a query, so a
// question finds nothing if the page that answers it uses another word. Here a page may lack some words:
// - Rare words count more than common ones, and a word counts most in a page's title, search terms and error messages.
//   `docs/build.py` writes those into `searchFields`. Without them, titles and texts are compared.
// - A word also stands for its synonyms, and a word that is on no page for the word that it was probably meant to be.
// - Words that follow one another count again if they do so on the page, as in a pasted error message.
const FIELD_WEIGHTS = { title: 4, keywords: 2.5, errors: 3, lead: 0.3 };
const TEXT_WEIGHT = 1;
const SATURATION = 1.5; // how soon further places with a word stop to count
const PAIR_WEIGHT = 0.4;
const SYNONYM_FACTOR = 0.6;
const PARTIAL_FACTOR = 0.5;
const LEAST_SHARE = 0.2; // of the weight of a query's words, the part that a page must contain
const OTHER_FRAMEWORK_FACTOR = 0.6;
const ONLY_FRAMEWORK_FACTOR = 1.15; // of a page about nothing but the framework that the query names

// Words in most questions, which say little about what is asked.
const FILLERS = new Set(
  ("get use using used can want make need work try show tell way problem issue question help difference different " +
    "understand mean happen always still even one just really actually like know see find give say please code " +
    "program example python tf tensorflow pytorch torch jax keras gradienttape minitape tf2").split(" "),
);
const FILLER_FACTOR = 0.25;

// Each line lists words that people use for the same thing. Chinese words have two characters, as in the index.
const SYNONYMS = `
  gradient grad derivative differentiate gradients derivatives
  weight weights parameter parameters variable variables
  update updating change changing move moving learn learning train training
  decrease decreasing fall falling drop converge converging improve
  constant stuck same plateau flat
  picture visualize visualise visualization draw plot diagram image
  animation animate video film movie gif
  freeze frozen fix fixed trainable
  error exception fails crash
  zero zeros vanish vanishing
  nan inf infinity infinite
  explode exploding diverge blows
  int integer integers
  second twice
  backprop backpropagation backward
  numpy ndarray
  memory leak oom ram
  delete del free release
  install setup
  online browser
  save export download
  homework assignment
  grade grading marks score
  student students class learner
  teacher instructor
  slow fast speed
  hessian jacobian
  if condition conditional branch
  loop for while iterations
  梯度 导数 求导 偏导 微分
  更新 改变 变化 不变
  下降 收敛 降低
  冻结 固定
  报错 错误 异常
  区别 不同 差别
  可视 画图 演示
  动画 视频 影片 动图
  保存 导出 下载
  安装 装环
  学生 班级
  老师 教师
  作业 练习
  评分 批改 打分
  整数 整型 int
  条件 if
  循环 for while
  内存 显存
  常量 常数
  自定 己写
  权重 参数 变量
  反向 backward
  零 0 zero
`
  .trim()
  .split("\n")
  .map((line) => line.trim().split(" "));

const FRAMEWORK_SIGNS = {
  PyTorch: /torch|\.backward|requires_grad|\bnn\.|optimizer\.(step|zero)|zero_grad|no_grad|\.detach/,
  TensorFlow: /tensorflow|keras|\btf\b|\btf2|gradienttape|tape\./,
  JAX: /\bjax|\bjnp\b|\bjit\b|tracer/,
};
// Phrases of Chinese questions that say nothing about what is asked, and what stands for the same question.
const CHINESE_FILLERS = new RegExp(
  "怎么回事|怎么办|怎么样|怎么|怎样|如何|为什么|为何|为啥|什么|是不是|能不能|可不可以|" +
    "可以|请问|一下|一直|总是|的时候|以后|之后|后面|里面|需要|应该|到底|究竟|出现|问题|解决|咋|" +
    "[的了是在里吗呢啊就都把被给让也还很会能想要有用时后]",
  "g",
);
const CHINESE_PHRASES = [
  [/不一样|不同|差别|差异/g, "区别"],
  [/降不下去|不下降|降不动|不降/g, "不下降"],
  [/装环境|不装|免装/g, "安装"],
  [/不更新|没更新|没反应|不变化|没有变化/g, "不更新"],
  [/训不动|学不动|学不到|不学习|不收敛/g, "不收敛"],
];
const ACROSS_FACTOR = 0.3; // of two characters that are no known word, and perhaps belong to two words
const CODE_WORDS = new Set(["if", "for", "while", "where"]); // In Chinese text, these are statements.
const LONGEST_WORD = 6;
const HAN = /[\u3400-\u9fff]/;

let index; // see buildIndex

function stemWord(word) {
  return new Stemmer().stemWord(word);
}

// The stems of a text, in order.
function listStems(text, hasChinese) {
  const addParts = (word) => (word.includes("_") ? [word, ...word.split("_")] : [word]);
  const words = splitQuery(text.toLowerCase()).flatMap(addParts);
  const isStopWord = (word) => stopwords.has(word) && !(hasChinese && CODE_WORDS.has(word));
  return words.filter((word) => word && !isStopWord(word)).map(stemWord);
}

// The pages of this edition, and those that exist in another language only.
function listPages(fieldsByPage) {
  const { docnames, filenames, titles } = Search._index;
  const others = Object.keys(fieldsByPage).filter((name) => name.startsWith("../"));
  return {
    docnames: [...docnames, ...others],
    filenames: [...filenames, ...others.map((name) => `${name}.md`)],
    titles: [...titles, ...others.map((name) => fieldsByPage[name].title)],
  };
}

function buildIndex() {
  const { terms, titleterms } = Search._index;
  const fieldsByPage = typeof searchFields === "undefined" ? {} : searchFields;
  const pages = listPages(fieldsByPage);
  const { docnames, titles } = pages;
  const isChinese = HAN.test(titles.join(""));
  const sizes = Search._index.docnames.map(() => 0);
  for (const files of Object.values(terms)) for (const file of [files].flat()) sizes[file] += 1;
  const mean = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
  const vocabulary = new Map(); // stem -> file -> weight
  const pairs = docnames.map(() => new Set());
  const add = (stem, file, weight) => {
    if (!vocabulary.has(stem)) vocabulary.set(stem, new Map());
    const weights = vocabulary.get(stem);
    weights.set(file, (weights.get(file) ?? 0) + weight);
  };
  for (const [stem, files] of [...Object.entries(terms), ...Object.entries(titleterms)]) {
    for (const file of [files].flat()) add(stem, file, TEXT_WEIGHT / (0.4 + (0.6 * sizes[file]) / mean));
  }
  const addField = (file, name, text) => {
    const stems = listStems(text, isChinese);
    for (const stem of new Set(stems)) add(stem, file, FIELD_WEIGHTS[name]);
    stems.slice(1).forEach((stem, place) => pairs[file].add(`${stems[place]} ${stem}`));
  };
  docnames.forEach((name, file) => {
    const fields = fieldsByPage[name] ?? { title: titles[file] };
    for (const [field, text] of Object.entries(fields)) if (field in FIELD_WEIGHTS) addField(file, field, text);
  });
  // Chinese search terms have spaces between words, so they are a dictionary.
  const texts = Object.values(fieldsByPage).map(({ keywords }) => keywords ?? "");
  const ownWords = [...SYNONYMS.flat(), ...CHINESE_PHRASES.map(([, word]) => word)];
  const words = new Set([...texts.join(" ").split(/[\s,]+/), ...ownWords]);
  const frameworks = docnames.map((name) => fieldsByPage[name]?.frameworks ?? "");
  return { pages, vocabulary, pairs, words, frameworks };
}

// The number of letters to insert, remove, replace or exchange with the next one, up to 3.
function countTypos(word, other) {
  if (Math.abs(word.length - other.length) > 2) return 3;
  let [older, previous] = [[], [...Array(other.length + 1).keys()]];
  for (let row = 1; row <= word.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const isSame = word[row - 1] === other[column - 1];
      const replaced = previous[column - 1] + (isSame ? 0 : 1);
      current[column] = Math.min(previous[column] + 1, current[column - 1] + 1, replaced);
      if (row < 2 || column < 2) continue;
      const isSwapped = word[row - 1] === other[column - 2] && word[row - 2] === other[column - 1];
      if (isSwapped) current[column] = Math.min(current[column], older[column - 2] + 1);
    }
    [older, previous] = [previous, current];
  }
  return previous[other.length];
}

function findNearestStem(stem) {
  if (stem.length < 5 || HAN.test(stem)) return null;
  const most = stem.length < 8 ? 1 : 2;
  let nearest = null;
  let best = [most + 1, 0];
  for (const [other, weights] of index.vocabulary) {
    if (other[0] !== stem[0] || other.length < 4) continue;
    const typos = countTypos(stem, other);
    if (typos < best[0] || (typos === best[0] && weights.size > best[1])) {
      nearest = other;
      best = [typos, weights.size];
    }
  }
  return best[0] <= most ? nearest : null;
}

// The stems that a word of a query may stand for, with the factor of each.
function listAlternatives(stem) {
  const alternatives = new Map([[stem, 1]]);
  for (const group of SYNONYMS) {
    const stems = group.map(stemWord);
    if (stems.includes(stem)) for (const other of stems) if (other !== stem) alternatives.set(other, SYNONYM_FACTOR);
  }
  if (index.vocabulary.has(stem) || stem.length < 3) return alternatives;
  const partial = [...index.vocabulary.keys()].filter((other) => other.includes(stem));
  for (const other of partial) if (!alternatives.has(other)) alternatives.set(other, PARTIAL_FACTOR);
  const nearest = partial.length ? null : findNearestStem(stem);
  if (nearest !== null) {
    for (const [other, factor] of listAlternatives(nearest)) alternatives.set(other, factor);
  }
  return alternatives;
}

function weighWord(stem) {
  const weights = new Map(); // file -> weight of the word there, from 0 to 1
  for (const [other, factor] of listAlternatives(stem)) {
    for (const [file, weight] of index.vocabulary.get(other) ?? []) {
      const saturated = (factor * weight) / (weight + SATURATION);
      weights.set(file, Math.max(saturated, weights.get(file) ?? 0));
    }
  }
  return weights;
}

// The pairs of characters in a text that are part of a known word. The longest word at each place is taken.
function listKnownPairs(text) {
  const pairs = new Set();
  for (let place = 0; place < text.length - 1; ) {
    let length = LONGEST_WORD;
    while (length > 1 && !index.words.has(text.slice(place, place + length))) length -= 1;
    for (let start = place; start < place + length - 1; start++) pairs.add(text.slice(start, start + 2));
    place += length;
  }
  return pairs;
}

function cleanQuery(query) {
  if (!HAN.test(query)) return query;
  const rephrased = CHINESE_PHRASES.reduce((text, [phrase, meaning]) => text.replace(phrase, ` ${meaning} `), query);
  const cleaned = rephrased.replace(CHINESE_FILLERS, " ");
  return /[\p{Letter}\p{Number}]/u.test(cleaned) ? cleaned : query;
}

function readQuery() {
  return new URLSearchParams(window.location.search).get("q") ?? "";
}

function findPages(searchTerms, excludedTerms) {
  index ??= buildIndex();
  const { docnames, filenames, titles } = index.pages;
  const query = readQuery().toLowerCase();
  const cleaned = cleanQuery(query);
  const stems = listStems(cleaned, HAN.test(query)).filter((stem) => !excludedTerms.has(stem));
  const knownPairs = listKnownPairs(cleaned);
  const countPages = (stem) => index.vocabulary.get(stem)?.size ?? 0;
  const words = [...new Set(stems)].map((stem) => {
    const weights = weighWord(stem);
    const isAcross = HAN.test(stem) && !knownPairs.has(stem);
    const factor = FILLERS.has(stem) ? FILLER_FACTOR : isAcross ? ACROSS_FACTOR : 1;
    const rarity = factor * Math.log(1 + docnames.length / (1 + (countPages(stem) || weights.size)));
    return { stem, weights, rarity: weights.size ? rarity : 0 }; // a word that is on no page tells nothing
  });
  const rarities = new Map(words.map(({ stem, rarity }) => [stem, rarity]));
  const excluded = new Set([...excludedTerms].flatMap((word) => [...weighWord(word).keys()]));
  const total = words.reduce((sum, { rarity }) => sum + rarity, 0);
  const asked = Object.keys(FRAMEWORK_SIGNS).filter((name) => FRAMEWORK_SIGNS[name].test(query));
  const results = [];
  for (const file of docnames.keys()) {
    const found = words.filter(({ weights }) => weights.has(file));
    const share = found.reduce((sum, { rarity }) => sum + rarity, 0) / total;
    if (!found.length || share < LEAST_SHARE || excluded.has(file)) continue;
    let score = found.reduce((sum, { weights, rarity }) => sum + rarity * weights.get(file), 0);
    stems.slice(1).forEach((stem, place) => {
      const before = stems[place];
      if (!index.pairs[file].has(`${before} ${stem}`)) return;
      score += (PAIR_WEIGHT * ((rarities.get(before) ?? 0) + (rarities.get(stem) ?? 0))) / 2;
    });
    const frameworks = index.frameworks[file];
    const isOther = asked.length && frameworks && !asked.some((name) => frameworks.includes(name));
    if (isOther) score *= OTHER_FRAMEWORK_FACTOR;
    if (asked.includes(frameworks)) score *= ONLY_FRAMEWORK_FACTOR;
    const percent = (100 * score) / total;
    results.push([docnames[file], titles[file], "", null, percent, filenames[file], SearchResultKind.text]);
  }
  return results;
}

function replaceSearch() {
  if (typeof Search !== "undefined") Search.performTermsSearch = findPages;
}
// The script of the search follows this one and also waits for this event, on the same element.
document.addEventListener("DOMContentLoaded", replaceSearch);
