// Scores with two bonuses. Somebody who types a question wants the page that answers it before a
// lesson that mentions its words, and of several such pages the one with the nearest title.
// static/search.js reads the query and computes the scores of pages, which are about 60 if the page is about all words.
const BONUS_BY_FOLDER = [
  [/^docs\/(questions\/index|causes)$/, -20],
  [/^docs\/questions\//, 14],
  [/^docs\/causes\//, 9],
  [/^docs\/(vocabulary|snapshot|trust|trust_tests|speed|names|gallery)$/, 0],
  [/^docs\/(engine\w*|functions|explain_inside|add_a_cause|lessons|write_a_bridge)$/, -10], // for contributors
  [/^docs\/|^deploy\//, 9],
  [/^notebooks\/\w+\/(glossary|credits)$/, -20],
  [/^notebooks\//, -8],
  [/^(api|reference)\//, -8],
  [/^CHANGELOG$/, -30],
];
const TITLE_BONUS = 14;
const OBJECT_FACTOR = 0.1; // Names of functions in the middle of a question are not what is asked for.
const FEW_WORDS = 2;

// Sphinx declares the name once more, which only `var` allows.
// eslint-disable-next-line no-var, no-unused-vars
var Scorer = {
  score: ([docname, title, , , score, , kind]) => {
    const name = docname.replace(/^\.\.\//, ""); // without the way to another edition
    const bonus = BONUS_BY_FOLDER.find(([folder]) => folder.test(name));
    const query = readQuery().toLowerCase();
    const hasChinese = HAN.test(title);
    const queryStems = new Set(listStems(cleanQuery(query), hasChinese));
    const titleStems = new Set(listStems(cleanQuery(title.toLowerCase()), hasChinese));
    const shared = [...titleStems].filter((stem) => queryStems.has(stem)).length;
    const titleShare = (2 * shared) / (titleStems.size + queryStems.size || 1);
    const isInQuestion = kind === "object" && queryStems.size > FEW_WORDS;
    return score * (isInQuestion ? OBJECT_FACTOR : 1) + (bonus ? bonus[1] : 0) + TITLE_BONUS * titleShare;
  },
  objNameMatch: 150,
  objPartialMatch: 20,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
