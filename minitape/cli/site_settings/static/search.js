// Search for questions as people type them. Sphinx lists only the pages that contain every word of a query, so a
// question finds nothing if the page that answers it uses another word. Here a page may lack some words:
// - Rare words count more than common ones, and a word counts most in a page's title, search terms and error messages.
//   `docs/build.py` writes those into `searchFields`. Without them, titles and texts are compared.
// - A word also stands for its synonyms, and a word that is on no page for the word that it was probably meant to be.
// - Words that follow one another count again if they do so on the page, as in a pasted error message.
// - Each page has other ways to ask what it answers. The one that is nearest to the question counts.
const FIELD_WEIGHTS = { title: 4, keywords: 2.5, errors: 3, phrasings: 1, lead: 0.3 };
const TEXT_WEIGHT = 0.5;
const SATURATION = 1.5; // how soon further places with a word stop to count
const PAIR_WEIGHT = 0.4;
const PHRASING_WEIGHT = 60;
const QUERY_SHARE = 0.5; // how much a phrasing should contain the query, and not the query the phrasing
const SYNONYM_FACTOR = 0.6;
const PARTIAL_FACTOR = 0.5;
const LEAST_SHARE = 0.2; // of the weight of a query's words, the part that a page must contain
const OTHER_FRAMEWORK_FACTOR = 0.75;
const UNASKED_FRAMEWORK_FACTOR = 0.9; // of a page about PyTorch or JAX only, if the query names no framework
const ONLY_FRAMEWORK_FACTOR = 1.15; // of a page about nothing but the framework that the query names
const NAMED_CAUSE_FACTOR = 1.5; // of the page about the cause that minitape has named

// Words in most questions, which say little about what is asked.
const FILLERS =
  "get use using used can want make need work try show tell way problem issue question help difference different " +
  "understand mean meaning purpose become turn got happen always still even one just really actually like know see " +
  "find give say please code program example python tf tensorflow pytorch torch jax keras gradienttape minitape tf2 " +
  "区别";
const STILL_MOVING = /(还在|还是在|仍然在|仍在|仍然|仍旧|还会|依然)被?(变化|改变|更新|变|动|训练)/g;
// Different spellings of one word, or of one symptom: "still" says little, but "still train" is what is wrong.
const PHRASES = [
  [/gradient tape/g, "gradienttape"],
  [/in[- ]place/g, "inplace"],
  [/\bfroze\b|\bfrozen\b/g, "freeze"],
  [/with respect to|w\.r\.t\.?/g, "wrt"],
  [/loss (function|value)/g, "loss"],
  [/\bzero(ing)? (out )?(the|my|all|out) (grad(ient)?s?)\b/g, "zero_grad"],
  [/\bno (grad(ient)?s?)\b/g, "none $1"],
  [/\b(do|does|did|is|are|was|were|ca|wo|would|should|could|has|have)n['’]?t\b/g, " "],
  [/\bwhat['’]?s\b/g, "what"],
  [/\bstill (get |getting |be |being |are )?(chang|mov|updat|train|learn)\w*/g, "stillmoving"],
  [STILL_MOVING, " 仍变 "],
  [/损失函数/g, "损失"],
  [/\w\[[^\]]*\] *=(?!=)/g, " item assignment "],
];
const rephrase = (text, phrases) => phrases.reduce((rest, [phrase, meaning]) => rest.replace(phrase, meaning), text);
const FILLER_FACTOR = 0.25;
// What is wrong, in one word.
const TOPICS = new Set(["nan", "none", "null", "zero", "freez", "frozen", "stillmov", "零", "仍变"]);
const TOPIC_FACTOR = 1.6;

// Each line lists words that people use for the same thing. Chinese words have two characters, as in the index.
const SYNONYMS = `
  gradient grad derivative differentiate gradients derivatives
  weight weights parameter parameters variable variables
  update updating change changing move moving
  learn learning train training
  decrease decreasing fall falling drop converge converging improve
  constant stuck same plateau flat
  picture visualize visualise visualization draw plot diagram image
  animation animate video film movie gif
  freeze frozen fix fixed trainable
  error exception fails crash
  zero zeros vanish vanishing
  nan inf infinity infinite
  none null nonetype empty
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
  常量 常数 constant
  变量 variable
  张量 tensor
  自定 己写
  权重 参数 变量
  损失 loss
  模型 网络
  反向 backward
  零 0 zero
`
  .trim()
  .split("\n")
  .map((line) => line.trim().split(" "));

const FRAMEWORK_SIGNS = {
  PyTorch:
    /torch|\.(backward|detach|item\()|requires_grad|\bnn\.|optimizer\.(step|zero)|(zero|no)_grad|((^|[^a])x|[^x])\.grad\b/,
  TensorFlow: /tensorflow|keras|\btf\b|\btf2|gradienttape|tape\./,
  JAX: /\bjax|\bjnp\b|\bjit\b|tracer|arrayimpl/,
};
// Phrases of Chinese questions that say nothing about what is asked, and what stands for the same question.
const CHINESE_FILLERS = new RegExp(
  "怎么回事|怎么办|怎么样|怎么|怎样|如何|为什么|为何|为啥|什么|是不是|能不能|可不可以|" +
    "可以|请问|一下|一直|总是|的时候|以后|之后|后面|里面|需要|应该|到底|究竟|出现|问题|解决|咋|变成|变为|" +
    "现象|情况|原因|办法|方法|行不行|行吗|好不好|干嘛|啥|有没有|" +
    "[的了是在里吗呢啊就都把被给让也还很会能想要有用时后]",
  "g",
);
const CHINESE_PHRASES = [
  [/(结果|输出|梯度|损失|loss|数值|精度)[都也就还会却]?(不一样|不同|变了)/g, "$1 不一致 "], // a symptom
  [/不一样|不同|差别|差异/g, " 区别 "],
  [/[求算得拿取]不(出来|出|到)/g, " none "],
  [/没有?梯度|梯度[都就全也又]*(没有?了?|丢了|断了)/g, " 梯度 none "],
  [/降不下去|不下降|降不动|不降/g, " 不下降 "],
  [/不(想|用|必|需要|要)?(安装|装(?!上))|免安?装/g, " 免安装 "],
  [/装环境/g, " 安装 "],
  [STILL_MOVING, " 仍变 "],
  [/不更新|没更新|没反应|不变化|没有变化/g, " 不更新 "],
  [/训不动|学不动|学不到|不学习|不收敛/g, " 不收敛 "],
];
// A page whose title names what is wrong does not answer a question about something else that is wrong.
const SYMPTOM_SIGNS = {
  nan: /\bnans?\b|\binf\b/,
  none: /\bnone\b|\bnull\b|nonetype|为空/,
  zero: /\bzeros?(?!_grad)(_|\b)|\b0\b|[是为]0|零(?!点)/,
};
const OTHER_SYMPTOM_FACTOR = 0.7;
const ANSWER_SIGN = /--cause|explain (says?|said|reports?|reported|prints?)\b|explain.?(说|报|提示|显示|给出)/;
const ACROSS_FACTOR = 0.3; // of two characters that are no known word, and perhaps belong to two words
const CODE_WORDS = new Set(["if", "for", "while", "where", "with"]); // In Chinese text, these are statements.
const LONGEST_WORD = 6;
const WORD_EXPONENT = 0.5;
const HAN = /[\u3400-\u9fff]/;

let index; // see buildIndex
const stemByWord = new Map(); // because it takes long to create a stemmer

function stemWord(word) {
  if (!stemByWord.has(word)) stemByWord.set(word, new Stemmer().stemWord(word));
  return stemByWord.get(word);
}

// The stems of a text, in order.
function listStems(text, hasChinese) {
  const addParts = (word) => (word.includes("_") ? [word, ...word.split("_")] : [word]);
  const words = splitQuery(rephrase(text.toLowerCase(), PHRASES)).flatMap(addParts);
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
  const ownWords = [...SYNONYMS.flat(), ...CHINESE_PHRASES.map(([, word]) => word.replace("$1", "").trim())];
  const words = new Set([...texts.join(" ").split(/[\s,]+/), ...ownWords]);
  const frameworks = docnames.map((name) => fieldsByPage[name]?.frameworks ?? "");
  const fillers = new Set(FILLERS.split(" ").map(stemWord));
  const built = { pages, vocabulary, pairs, words, frameworks, fillers };
  return { ...built, phrasings: listPhrasings(built, fieldsByPage, isChinese) };
}

// The ways to ask what a page answers, each with the weights of its words and their sum.
function listPhrasings(built, fieldsByPage, isChinese) {
  return built.pages.docnames.flatMap((name, file) => {
    const { title, phrasings } = fieldsByPage[name] ?? {};
    return [title, ...(phrasings ?? "").split("\n")].filter(Boolean).map((line) => {
      const cleaned = cleanQuery(line.toLowerCase());
      const knownPairs = weighKnownPairs(cleaned, built.words);
      const stems = new Set(listStems(cleaned, isChinese));
      const rarities = new Map([...stems].map((stem) => [stem, weighRarity(stem, built, knownPairs)]));
      return { file, rarities, total: sum(rarities.values()) };
    });
  });
}

function sum(numbers) {
  return [...numbers].reduce((total, number) => total + number, 0);
}

// Rare words tell pages apart. Words in most questions and pairs of characters across two words say little.
function weighRarity(stem, { pages, vocabulary, fillers }, knownPairs, pageCount = vocabulary.get(stem)?.size ?? 0) {
  const pairWeight = HAN.test(stem) ? (knownPairs.get(stem) ?? ACROSS_FACTOR) : 1;
  const factor = pairWeight * (fillers.has(stem) ? FILLER_FACTOR : TOPICS.has(stem) ? TOPIC_FACTOR : 1);
  return factor * Math.log(1 + pages.docnames.length / (1 + pageCount));
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

function weighWord(alternatives) {
  const weights = new Map(); // file -> weight of the word there, from 0 to 1
  for (const [other, factor] of alternatives) {
    for (const [file, weight] of index.vocabulary.get(other) ?? []) {
      const saturated = (factor * weight) / (weight + SATURATION);
      weights.set(file, Math.max(saturated, weights.get(file) ?? 0));
    }
  }
  return weights;
}

// The pairs of characters in a text that are part of a known word, with the weight of each: a long word has many pairs
// and is still one word. The longest word at each place is taken.
function weighKnownPairs(text, words) {
  const weights = new Map();
  for (let place = 0; place < text.length - 1; ) {
    let length = LONGEST_WORD;
    while (length > 1 && !words.has(text.slice(place, place + length))) length -= 1;
    for (let start = place; start < place + length - 1; start++) {
      weights.set(text.slice(start, start + 2), 1 / (length - 1) ** WORD_EXPONENT);
    }
    place += length;
  }
  return weights;
}

function cleanQuery(query) {
  if (!HAN.test(query)) return query;
  const cleaned = rephrase(query, CHINESE_PHRASES).replace(CHINESE_FILLERS, " ");
  return /[\p{Letter}\p{Number}]/u.test(cleaned) ? cleaned : query;
}

function readQuery() {
  return new URLSearchParams(window.location.search).get("q") ?? "";
}

// How near the nearest phrasing of each page is to a question, from 0 (no word in common) to 1 (the same words).
function comparePhrasings(words) {
  const total = sum(words.map(({ rarity }) => rarity));
  const nearness = index.pages.docnames.map(() => 0);
  for (const { file, rarities, total: ownTotal } of index.phrasings) {
    const shared = words.map(({ alternatives, rarity }) => {
      const factors = [...alternatives].map(([other, factor]) => (rarities.has(other) ? factor : 0));
      return rarity * Math.max(...factors);
    });
    nearness[file] = Math.max(nearness[file], sum(shared) / (QUERY_SHARE * total + (1 - QUERY_SHARE) * ownTotal));
  }
  return nearness;
}

// Whether a query names the cause that a page is about, as minitape's answers do: "detach: ..." is their first word.
function namesCause(file, query) {
  const cause = /causes\/(\w+)$/.exec(index.pages.docnames[file])?.[1];
  if (cause === undefined) return false;
  const isQuoted = ANSWER_SIGN.test(query) && query.split(/\W+/).includes(cause);
  return isQuoted || new RegExp(`^${cause}[:：]`).test(query);
}

function findSigns(text, signs) {
  return Object.keys(signs).filter((name) => signs[name].test(text));
}

// What a page's score is multiplied by because of the frameworks and the symptom that the query names.
function weighSubject(file, query) {
  const asked = findSigns(query, FRAMEWORK_SIGNS);
  const frameworks = index.frameworks[file];
  const isOther = asked.length && frameworks && !asked.some((name) => frameworks.includes(name));
  const symptoms = findSigns(query, SYMPTOM_SIGNS);
  const ownSymptoms = findSigns(index.pages.titles[file].toLowerCase(), SYMPTOM_SIGNS);
  const hasOtherSymptom =
    symptoms.length && ownSymptoms.length && !ownSymptoms.some((name) => symptoms.includes(name));
  const isUnasked = !asked.length && ["PyTorch", "JAX"].includes(frameworks);
  return (
    (isUnasked ? UNASKED_FRAMEWORK_FACTOR : 1) *
    (isOther ? OTHER_FRAMEWORK_FACTOR : 1) *
    (namesCause(file, query) ? NAMED_CAUSE_FACTOR : 1) *
    (asked.includes(frameworks) ? ONLY_FRAMEWORK_FACTOR : 1) *
    (hasOtherSymptom ? OTHER_SYMPTOM_FACTOR : 1)
  );
}

function findPages(searchTerms, excludedTerms) {
  index ??= buildIndex();
  const { docnames, filenames, titles } = index.pages;
  const query = readQuery().toLowerCase();
  const cleaned = cleanQuery(query);
  const stems = listStems(cleaned, HAN.test(query)).filter((stem) => !excludedTerms.has(stem));
  const knownPairs = weighKnownPairs(cleaned, index.words);
  const words = [...new Set(stems)].map((stem) => {
    const alternatives = listAlternatives(stem);
    const weights = weighWord(alternatives);
    const pageCount = index.vocabulary.get(stem)?.size || weights.size;
    const rarity = weighRarity(stem, index, knownPairs, pageCount);
    return { stem, alternatives, weights, rarity: weights.size ? rarity : 0 }; // a word on no page tells nothing
  });
  const rarities = new Map(words.map(({ stem, rarity }) => [stem, rarity]));
  const excluded = new Set([...excludedTerms].flatMap((word) => [...weighWord(listAlternatives(word)).keys()]));
  const total = sum(words.map(({ rarity }) => rarity));
  const nearness = comparePhrasings(words);
  const results = [];
  for (const file of docnames.keys()) {
    const found = words.filter(({ weights }) => weights.has(file));
    const share = sum(found.map(({ rarity }) => rarity)) / total;
    if (!found.length || share < LEAST_SHARE || excluded.has(file)) continue;
    let score = sum(found.map(({ weights, rarity }) => rarity * weights.get(file)));
    stems.slice(1).forEach((stem, place) => {
      const before = stems[place];
      if (!index.pairs[file].has(`${before} ${stem}`)) return;
      score += (PAIR_WEIGHT * ((rarities.get(before) ?? 0) + (rarities.get(stem) ?? 0))) / 2;
    });
    score = ((100 * score) / total + PHRASING_WEIGHT * nearness[file]) * weighSubject(file, query);
    results.push([docnames[file], titles[file], "", null, score, filenames[file], SearchResultKind.text]);
  }
  return results;
}

function replaceSearch() {
  if (typeof Search !== "undefined") Search.performTermsSearch = findPages;
}
// The script of the search follows this one and also waits for this event, on the same element.
document.addEventListener("DOMContentLoaded", replaceSearch);
