// Search for questions as people type them. Sphinx lists only the pages that contain every word of a query, so a question
// finds nothing if the page that answers it says one thing in another word. Here a page may lack some words: rare words
// count more than common ones, words of a title more than those of the text, and words of a short page more than those of
// a long one.
const TITLE_WEIGHT = 3;
const PARTIAL_WEIGHT = 0.5;
const LEAST_SHARE = 0.3; // of the weight of a query's words, the part that a page must contain

const FILLERS = new Set(["get", "use", "can", "want", "make", "work", "tensorflow", "gradienttap"]); // stems in most questions
const FILLER_WEIGHT = 0.3;
let textWeights; // of a word in the text of each page

function computeTextWeights() {
  const { docnames, terms } = Search._index;
  const sizes = docnames.map(() => 0);
  for (const files of Object.values(terms)) for (const file of [files].flat()) sizes[file] += 1;
  const mean = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
  return sizes.map((size) => 1 / (0.4 + (0.6 * size) / mean));
}

function findWordWeights(word) {
  const { terms, titleterms } = Search._index;
  textWeights ??= computeTextWeights();
  const weights = new Map(); // file -> weight of the word there
  const add = (files, factor, isTitle) => {
    for (const file of [files ?? []].flat()) {
      const weight = factor * (isTitle ? TITLE_WEIGHT : textWeights[file]);
      weights.set(file, Math.max(weight, weights.get(file) ?? 0));
    }
  };
  for (const index of [terms, titleterms]) {
    const isTitle = index === titleterms;
    if (Object.hasOwn(index, word)) add(index[word], 1, isTitle);
    else if (word.length > 2) {
      for (const term of Object.keys(index)) if (term.includes(word)) add(index[term], PARTIAL_WEIGHT, isTitle);
    }
  }
  return weights;
}

function findPages(searchTerms, excludedTerms) {
  const { docnames, filenames, titles } = Search._index;
  const words = [...searchTerms].map((word) => {
    const weights = findWordWeights(word);
    const rarity = Math.log(1 + docnames.length / (1 + weights.size)) * (FILLERS.has(word) ? FILLER_WEIGHT : 1);
    return { weights, rarity: weights.size ? rarity : 0 }; // a word that is on no page tells nothing
  });
  const excluded = new Set([...excludedTerms].flatMap((word) => [...findWordWeights(word).keys()]));
  const total = words.reduce((sum, { rarity }) => sum + rarity, 0);
  const results = [];
  for (const file of docnames.keys()) {
    const found = words.filter(({ weights }) => weights.has(file));
    const share = found.reduce((sum, { rarity }) => sum + rarity, 0) / total;
    if (!found.length || share < LEAST_SHARE || excluded.has(file)) continue;
    const score = found.reduce((sum, { weights, rarity }) => sum + rarity * weights.get(file), 0);
    results.push([docnames[file], titles[file], "", null, (100 * score) / total, filenames[file], SearchResultKind.text]);
  }
  return results;
}

function replaceSearch() {
  if (typeof Search !== "undefined") Search.performTermsSearch = findPages;
}
// The script of the search follows this one and also waits for this event, on the same element.
document.addEventListener("DOMContentLoaded", replaceSearch);
