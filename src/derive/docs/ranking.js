const isPartOfWord = letter => letter !== undefined && /[\p{Letter}\p{Number}]/u.test(letter)

/** Rates how well a text matches a word: 3 as a whole word, 2 as the beginning of one, 1 inside one, 0 not at all. */
function met(word, text) {
  let best = 0
  for (let at = text.indexOf(word); at !== -1 && best < 3; at = text.indexOf(word, at + 1)) {
    const begins = !isPartOfWord(text[at - 1])
    best = Math.max(best, begins && !isPartOfWord(text[at + word.length]) ? 3 : begins ? 2 : 1)
  }
  return best
}

const sumOf = numbers => numbers.reduce((sum, number) => sum + number, 0)

/** Exact titles (singular or plural) rank first, then similar ones, then mere mentions. */
function scoreOf(words, { kind, title, words: text }) {
  const called = title.toLowerCase()
  const asked = words.join(' ')
  const inTitle = words.map(word => met(word, called))
  const isCalledSo = called === asked || called === `${asked}s`
  const isStatus = kind === 'refusal' && words.some(word => /^[45]\d\d$/.test(word) && met(word, text) === 3)
  // A search for a setting contains its name. A search by plain words wants an explanation, not the members
  // of a record.
  const isAside = kind === 'record' || (kind === 'setting' && !asked.includes('_'))
  return (
    (isCalledSo ? 100 : 0) +
    (isStatus ? 50 : 0) +
    (isAside ? -50 : 0) +
    (inTitle.every(Boolean) ? 20 : 0) +
    4 * sumOf(inTitle) +
    sumOf(words.map(word => met(word, text)))
  )
}

const best = scored => scored.toSorted((one, other) => other.score - one.score).map(({ entry }) => entry)

export function allWith(words, all) {
  const having = all.filter(entry => words.every(word => entry.words.includes(word)))
  return best(having.map(entry => ({ entry, score: scoreOf(words, entry) })))
}

/** The number of results shown if no entry matches all words. */
const NEAREST = 20

export function nearestTo(words, all) {
  const scored = all.map(entry => {
    const had = words.filter(word => entry.words.includes(word))
    return { entry, score: had.length === 0 ? 0 : 1_000 * had.length + scoreOf(had, entry) }
  })
  return best(scored.filter(({ score }) => score > 0)).slice(0, NEAREST)
}
