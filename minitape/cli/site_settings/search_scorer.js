// Scores with two bonuses. Somebody who types a question wants the page that answers it before a
// lesson that mentions its words, and of several such pages the one with the nearest title.
// static/search.js computes the scores of pages, which are about 100 if the text has all words.
const BONUS_BY_FOLDER = [
  [/^docs\/(questions\/index|causes)$/, -30],
  [/^docs\/questions\//, 60],
  [/^docs\/causes\//, 45],
  [/^docs\/(vocabulary|snapshot|trust|trust_tests|speed|names|gallery)$/, 0],
  [/^docs\/(engine\w*|functions|explain_inside|add_a_cause|lessons|write_a_bridge)$/, -20], // for contributors
  [/^docs\/|^deploy\//, 40],
  [/^notebooks\/\w+\/(glossary|credits)$/, -40],
  [/^notebooks\//, -20],
  [/^(api|reference)\//, -10],
  [/^CHANGELOG$|^index$/, -60],
];
const TITLE_BONUS = 20;

// Sphinx declares the name once more, which only `var` allows.
// eslint-disable-next-line no-var, no-unused-vars
var Scorer = {
  score: ([docname, title, , , score]) => {
    const bonus = BONUS_BY_FOLDER.find(([folder]) => folder.test(docname));
    const query = new URLSearchParams(window.location.search).get("q") || "";
    const queryWords = new Set(splitQuery(query.toLowerCase()));
    const titleWords = splitQuery(title.toLowerCase());
    const sharedWords = titleWords.filter((word) => queryWords.has(word));
    const titleShare = titleWords.length ? sharedWords.length / titleWords.length : 0;
    return score + (bonus ? bonus[1] : 0) + TITLE_BONUS * titleShare;
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
