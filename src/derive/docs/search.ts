import MiniSearch, { type Query } from 'minisearch'

export type SearchKind =
  | 'guide'
  | 'rule'
  | 'section'
  | 'operation'
  | 'part'
  | 'refusal'
  | 'event'
  | 'setting'
  | 'record'

export interface SearchDocument {
  readonly address: string
  readonly kind: SearchKind
  /** The heading under which it is shown. */
  readonly group: string
  readonly title: string
  /** The page that it is a part of, or what else the page is called. */
  readonly page: string
  readonly text: string
  readonly method?: string
  /** What else it is called: queries that are one of these mean it. */
  readonly names?: readonly string[]
  readonly isUsedMost?: boolean
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

/** Words of one line mean the same to a reader who searches. Singular, in lower case. */
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
].map(line => line.split(' ').map(normalize))

/** The stem of a word, so that “webhooks” and “webhook”, “retries” and “retry”, “issuing” and “issue” are one. */
export function normalize(word: string): string | null {
  const term = word.toLowerCase()
  if (STOP.has(term)) return null
  if (term.length < 4 || /[^a-z]/.test(term)) return term
  const singular = term.replace(/ies$/, 'y').replace(/(?<!s|u|i)s$/, '')
  return singular.replace(/(?<=[a-z]{4})(ing|ed)$/, '').replace(/(?<=[a-z]{3})e$/, '')
}

/** Names such as `intent.approved`, `DATABASE_URL` and `dailyLimitEuros` are found whole and by their parts. */
export function tokenize(text: string): string[] {
  return text.split(/[^\p{L}\p{N}._-]+/u).flatMap(raw => {
    const word = raw.replace(/^[._-]+|[._-]+$/g, '')
    if (word === '') return []
    const parts = word.split(/[._-]|(?<=[a-z])(?=[A-Z])/)
    return parts.length > 1 ? [word, ...parts.filter(Boolean)] : [word]
  })
}

/** What a search weighs by kind: a guide answers most questions, and a member of a record few. */
const WEIGHTS: Readonly<Record<SearchKind, number>> = {
  guide: 2.4,
  rule: 2,
  section: 1.5,
  operation: 1.1,
  part: 1,
  refusal: 0.5,
  event: 0.5,
  setting: 0.4,
  record: 0.3,
}

export function createSearch(documents: readonly SearchDocument[]): Search {
  // Only words of the documents are kept: queries have no end.
  const termsOf = memoize(wordsIn)
  const titleOf = memoize((one: SearchDocument) => wordsIn(one.title))
  const partsOf = textOfParts(documents)
  const headingsOf = Map.groupBy(
    documents.filter(({ kind }) => kind === 'part'),
    ({ address }) => address.split('#')[0],
  )
  const index = new MiniSearch<SearchDocument>({
    idField: 'address',
    fields: ['title', 'page', 'text', 'parts'],
    extractField: (one, name) =>
      name === 'parts' ? (partsOf.get(one.address) ?? '') : String(one[name as keyof SearchDocument]),
    tokenize,
    processTerm: memoize(normalize),
    searchOptions: { processTerm: normalize },
  })
  index.addAll(documents)
  const byAddress = new Map(documents.map(one => [one.address, one]))
  const wordsOf = memoize((one: SearchDocument) =>
    wordsIn([nameOf(one), ...(headingsOf.get(one.address) ?? []).map(part => part.title)].join(' ')),
  )
  return (query, within = '') => resultsOf(query, { index, byAddress, wordsOf, titleOf, termsOf, within })
}

interface Searched {
  readonly index: MiniSearch<SearchDocument>
  readonly byAddress: ReadonlyMap<string, SearchDocument>
  readonly wordsOf: WordsOf
  readonly titleOf: WordsOf
  readonly termsOf: (text: string) => string[]
  readonly within: string
}

type WordsOf = (one: SearchDocument) => string[]

interface Hit {
  readonly one: SearchDocument
  readonly score: number
  readonly terms: readonly string[]
}

/** The headings and texts of the parts of a page, so that a page with all words is found, wherever they are. */
function textOfParts(documents: readonly SearchDocument[]): Map<string, string> {
  const found = new Map<string, string>()
  for (const { kind, address, title, text } of documents) {
    if (kind !== 'part') continue
    const [page = ''] = address.split('#')
    found.set(page, `${found.get(page) ?? ''} ${title} ${text}`)
  }
  return found
}

const synonymsOf = (term: string): string[] =>
  [...new Set(SYNONYMS.filter(line => line.includes(term)).flat())].filter(
    word => word !== null && word !== term,
  ) as string[]

/** A word, or one that means the same, or one that begins with it; the words themselves weigh most. */
function anyOf(term: string, isLast: boolean): Query {
  const others = synonymsOf(term)
  return {
    combineWith: 'OR',
    queries: [
      {
        queries: [term],
        prefix: isLast ? true : (found: string) => found.length > 3,
        fuzzy: (found: string) => (found.length > 4 ? 0.2 : false),
      },
      ...(others.length > 0
        ? [
            {
              queries: others,
              combineWith: 'OR' as const,
              prefix: false,
              fuzzy: false,
              boostTerm: () => 0.25,
            },
          ]
        : []),
    ],
  }
}

const MOST = 30

function resultsOf(query: string, { index, byAddress, wordsOf, titleOf, termsOf, within }: Searched): Found {
  const words = query.slice(0, 100).split(/\s+/).filter(Boolean)
  const terms = words.map(normalize).filter(term => term !== null)
  if (terms.length === 0) return { groups: [], count: 0, isNearest: false }
  const options = {
    boost: { title: 5, page: 2.5, text: 1, parts: 0.4 },
    prefix: true,
    weights: { fuzzy: 0.2, prefix: 0.4 },
    filter: ({ id }: { id: string }) => id.startsWith(within),
  }
  const queries = terms.map((term, n) => anyOf(term, n === terms.length - 1))
  const all = index.search({ combineWith: 'AND', queries }, options)
  const hits = all.length > 0 ? all : index.search({ combineWith: 'OR', queries }, options)
  const isNoun = nounsOf(
    hits.map(({ id }) => byAddress.get(id) as SearchDocument),
    terms,
    titleOf,
  )
  const ranked = hits
    .map(({ id, score, match }) => {
      const one = byAddress.get(id) as SearchDocument
      return {
        one,
        score:
          score *
          weightOf(one, { words: wordsOf(one), title: titleOf(one), isNoun: isNoun(one), terms, query }),
        terms: Object.keys(match),
      }
    })
    .toSorted((a, b) => b.score - a.score)
  return {
    groups: groupsOf(ranked, terms, { titleOf, termsOf }),
    count: ranked.length,
    isNearest: all.length === 0 && hits.length > 0,
  }
}

/** A query that fits the titles of many operations of a chapter is a noun, and means the chapter. */
function nounsOf(
  found: readonly SearchDocument[],
  terms: readonly string[],
  titleOf: WordsOf,
): (one: SearchDocument) => boolean {
  const fitting = found.filter(
    one => one.kind === 'operation' && terms.every(term => titleOf(one).includes(term)),
  )
  const counts = Map.groupBy(fitting, ({ page }) => page)
  return ({ kind, title }) => kind === 'section' && (counts.get(title)?.length ?? 0) >= 3
}

const wordsIn = (text: string): string[] =>
  tokenize(text)
    .map(normalize)
    .filter(word => word !== null)

/** A chapter of the API is called by a noun, and its sentence says what that is. */
const nameOf = ({ kind, title, page }: SearchDocument): string =>
  kind === 'section' ? `${title} ${page}` : title

function memoize<Key, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>()
  return key => {
    const value = known.get(key) ?? compute(key)
    known.set(key, value)
    return value
  }
}

interface Asked {
  readonly words: readonly string[]
  readonly title: readonly string[]
  readonly isNoun: boolean
  readonly terms: readonly string[]
  readonly query: string
}

/** A title that is the query comes first, then a page that has all of its words in headings. */
function weightOf(one: SearchDocument, asked: Asked): number {
  const { kind, names = [], isUsedMost = false } = one
  const isNamed = names.includes(asked.query.trim())
  return WEIGHTS[kind] * titleWeight(one, asked) * (isNamed ? 12 : 1) * (isUsedMost ? 1.5 : 1)
}

function titleWeight(one: SearchDocument, { words, title, isNoun, terms, query }: Asked): number {
  const { kind } = one
  if (title.join(' ') === terms.join(' ') || one.title === query.trim()) return kind === 'part' ? 2 : 4
  if (isNoun) return 3
  return terms.every(term => words.includes(term)) ? 1.6 : 1
}

/** The parts of the documentation in the order of their best page, with at most three sections of a page. */
function groupsOf(
  ranked: readonly Hit[],
  terms: readonly string[],
  { titleOf, termsOf }: Pick<Searched, 'titleOf' | 'termsOf'>,
): Found['groups'] {
  const pages = [...Map.groupBy(ranked, ({ one }) => one.address.split('#')[0]).values()]
  const shown = pages.flatMap(hits => partFirst(hits, terms, titleOf).slice(0, 3)).slice(0, MOST)
  const groups = Map.groupBy(shown, ({ one }) => one.group)
  return [...groups].map(([title, hits]) => ({
    title,
    pages: hits.map(hit => ({ ...hit.one, snippet: snippetOf(hit.one.text, hit.terms, termsOf) })),
  }))
}

/**
 * A part whose heading has a word of the query that its page's title lacks is what the reader wants of the page;
 * without one, the only part that has all of those words.
 */
function partFirst(hits: readonly Hit[], terms: readonly string[], titleOf: WordsOf): readonly Hit[] {
  const [first] = hits
  if (first?.one.kind !== 'guide') return hits
  const called = titleOf(first.one)
  const wanted = terms.filter(term => !called.includes(term))
  const parts = hits.filter(({ one }) => one.kind === 'part')
  const named = parts.find(({ one }) => titleOf(one).some(word => wanted.includes(word)))
  const having = parts.filter(hit => wanted.every(word => hit.terms.includes(word)))
  const isSplit = wanted.length > 0 && wanted.length < terms.length
  const part = named ?? (isSplit && having.length === 1 ? having[0] : undefined)
  return part ? [part, ...hits.filter(hit => hit !== part)] : hits
}

const BEFORE = 60
const LENGTH = 180

const WORD = /[\p{L}\p{N}](?:[\p{L}\p{N}._-]*[\p{L}\p{N}])?/gu

/** The part of a text around the first word that was met, in pieces of which every second one was met. */
function snippetOf(text: string, terms: readonly string[], termsOf: Searched['termsOf']): string[] {
  const wanted = new Set(terms)
  const isMet = ({ 0: word }: RegExpExecArray): boolean => termsOf(word).some(term => wanted.has(term))
  const words = [...text.matchAll(WORD)]
  const first = words.find(isMet)?.index ?? 0
  const from = first <= BEFORE ? 0 : text.indexOf(' ', first - BEFORE) + 1
  const cut = text.length > from + LENGTH ? text.lastIndexOf(' ', from + LENGTH) : text.length
  const to = cut > from ? cut : from + LENGTH
  const pieces: string[] = []
  let end = from
  for (const match of words) {
    const { 0: word, index } = match
    if (index < end || index + word.length > to || !isMet(match)) continue
    pieces.push(text.slice(end, index), word)
    end = index + word.length
  }
  pieces.push(text.slice(end, to) + (to < text.length ? ' …' : ''))
  if (from > 0) pieces[0] = `… ${pieces[0]}`
  return pieces
}
