import MiniSearch, { type Query, type SearchResult } from 'minisearch'

export interface SearchDocument {
  readonly address: string
  /** The heading under which it is shown. */
  readonly group: string
  readonly title: string
  /** The page that it is a part of, or what else the page is called. */
  readonly page: string
  readonly text: string
  /** The headings and texts of the parts of a guide, so that its words are found wherever they are. */
  readonly parts?: string
  readonly method?: string
  /** Queries that are one of these mean it. Without them, its title is its name. */
  readonly names?: readonly string[]
  /** A guide answers most questions, and a member of a record few. */
  readonly weight: number
}

export interface FoundPage extends SearchDocument {
  /** Every second piece was met. */
  readonly snippet: readonly string[]
}

export interface Found {
  readonly groups: readonly { readonly title: string; readonly pages: readonly FoundPage[] }[]
  readonly count: number
  /** No page has all words: these have some. */
  readonly isNearest: boolean
}

/** Finds what has an address that begins with `within`. */
export type Search = (query: string, within?: string) => Found

/** Words that narrow nothing. */
const STOP = new Set(
  'a an and are as at be by can do does for from how i in is it my of on or the to we what when with you your'.split(
    ' ',
  ),
)

/** The stem of a word, so that “webhooks” and “webhook”, “retries” and “retry”, “issuing” and “issue” are one. */
function normalize(word: string): string | null {
  const term = word.toLowerCase()
  if (STOP.has(term)) return null
  if (term.length < 4 || /[^a-z]/.test(term)) return term
  const singular = term.replace(/ies$/, 'y').replace(/(?<!s|u|i)s$/, '')
  return singular.replace(/(?<=[a-z]{4})(ing|ed)$/, '').replace(/(?<=[a-z]{3})e$/, '')
}

const wordsIn = (text: string): string[] =>
  text
    .split(/[^\p{L}\p{N}._-]+/u)
    .map(word => word.replace(/^[._-]+|[._-]+$/g, ''))
    .filter(Boolean)

/** Names such as `intent.approved`, `DATABASE_URL` and `dailyLimitEuros` are found whole and by their parts. */
const tokenize = (text: string): string[] =>
  wordsIn(text).flatMap(word => {
    const parts = word.split(/[._-]|(?<=[a-z])(?=[A-Z])/)
    return parts.length > 1 ? [word, ...parts] : [word]
  })

const termsIn = (text: string): string[] =>
  wordsIn(text)
    .map(normalize)
    .filter(term => term !== null)

/** Words of one line mean the same to a reader who searches. */
const SYNONYMS = [
  'page pagination paginate paging nextcursor list',
  'deploy deployment production install hosting docker kubernetes k8s helm',
  'assistant claude chatgpt copilot agentic mcp llm',
  'environment env variable setting configuration config',
  'approve approval confirm',
  'refund reimbursement',
  'sign signature verify verification',
  'retry repeat resend attempt redeliver',
  'limit cap budget maximum threshold',
  'throttle rate 429',
  'allowlist whitelist allowed',
  'blocklist blacklist denied',
  'phone mobile',
  'cli command terminal agentpay',
  'login signin',
  'delete erase erasure deletion remove forget',
  'gdpr privacy personal dsgvo',
  'backup dump snapshot',
  'upgrade update migrate version',
  'javascript typescript node js ts package sdk client library',
  'python pip package sdk client library',
  'clock time advance',
  'webhook callback hook',
  'token credential',
  'export download',
  'example sample template preset',
  'error refusal problem',
  'create new make add declare',
  'freeze block stop pause suspend',
  'test sandbox',
  'issue issuing issuance',
  'spend pay payment purchase',
  'transfer remit wire',
  'dispute chargeback',
].map(termsIn)

const synonymsOf = (term: string): string[] =>
  SYNONYMS.filter(line => line.includes(term))
    .flat()
    .filter(word => word !== term)

/** A word, or one that means the same; the word itself weighs most. */
const anyOf = (term: string): Query => ({
  combineWith: 'OR',
  queries: [
    term,
    { queries: synonymsOf(term), combineWith: 'OR', prefix: false, fuzzy: false, boostTerm: () => 0.25 },
  ],
})

/** A page weighs so many times more if the whole query is its name. */
const NAMED = 6

export function createSearch(documents: readonly SearchDocument[]): Search {
  const byAddress = new Map(documents.map(one => [one.address, one]))
  const namesOf = new Map(
    documents.map(({ address, title, names = [title] }) => [
      address,
      names.map(name => termsIn(name).join(' ')),
    ]),
  )
  const index = new MiniSearch<SearchDocument>({
    idField: 'address',
    fields: ['title', 'page', 'text', 'parts'],
    tokenize,
    processTerm: normalize,
    searchOptions: {
      tokenize: term => [term],
      processTerm: term => term,
      boost: { title: 5, page: 2.5, parts: 0.4 },
      prefix: true,
      fuzzy: term => term.length > 4 && 0.2,
      weights: { fuzzy: 0.2, prefix: 0.4 },
    },
  })
  index.addAll(documents)
  const oneOf = (address: string): SearchDocument => byAddress.get(address) as SearchDocument
  return (query, within = '') => {
    const terms = termsIn(query.slice(0, 100))
    const name = terms.join(' ')
    const queries = terms.map(anyOf)
    const options = {
      filter: ({ id }: SearchResult) => id.startsWith(within),
      boostDocument: (address: string) =>
        oneOf(address).weight * (namesOf.get(address)?.includes(name) ? NAMED : 1),
    }
    const all = index.search({ combineWith: 'AND', queries }, options)
    const hits = all.length > 0 ? all : index.search({ combineWith: 'OR', queries }, options)
    const ranked = hits.map(({ id, score, match }) => ({ one: oneOf(id), score, terms: Object.keys(match) }))
    return {
      groups: groupsOf(ranked, terms.length > 1),
      count: hits.length,
      isNearest: all.length === 0 && hits.length > 0,
    }
  }
}

interface Hit {
  readonly one: SearchDocument
  readonly score: number
  readonly terms: readonly string[]
}

const MOST = 30

/** The parts of the documentation in the order of their best page, with at most three sections of a page. */
function groupsOf(ranked: readonly Hit[], isOfSeveralWords: boolean): Found['groups'] {
  const pages = [...Map.groupBy(ranked, ({ one }) => one.address.split('#')[0]).values()]
  const shown = pages.flatMap(hits => (isOfSeveralWords ? partFirst(hits) : hits).slice(0, 3)).slice(0, MOST)
  const groups = Map.groupBy(shown, ({ one }) => one.group)
  return [...groups].map(([title, hits]) => ({
    title,
    pages: hits.map(({ one, terms }) => ({ ...one, snippet: snippetOf(one.text, terms) })),
  }))
}

/** What a guide as a whole weighs more than one of its parts, which may be what the reader wants of it. */
const WHOLE = 7

function partFirst(hits: readonly Hit[]): Hit[] {
  const scoreOf = ({ one, score }: Hit): number => (one.parts === undefined ? score : score / WHOLE)
  return hits.toSorted((a, b) => scoreOf(b) - scoreOf(a))
}

const BEFORE = 60
const LENGTH = 180

const WORD = /([\p{L}\p{N}](?:[\p{L}\p{N}._-]*[\p{L}\p{N}])?)/gu

/** The part of a text around the first word that was met, in pieces of which every second one was met. */
function snippetOf(text: string, met: readonly string[]): string[] {
  const isMet = (word: string): boolean => tokenize(word).some(part => met.includes(normalize(part) ?? ''))
  const first = [...text.matchAll(WORD)].find(([word]) => isMet(word))?.index ?? 0
  const from = text.lastIndexOf(' ', first - BEFORE) + 1
  const rest = text.slice(from)
  const shown = rest.length > LENGTH ? `${rest.slice(0, LENGTH).replace(/\s\S*$/, '')} …` : rest
  const pieces = [from > 0 ? '… ' : '']
  for (const [n, piece] of shown.split(WORD).entries())
    if (n % 2 === 1 && isMet(piece)) pieces.push(piece, '')
    else pieces.push(`${pieces.pop()}${piece}`)
  return pieces
}
