import { STATUS_CODES } from 'node:http'
import type { DocsBook, OperationEntry } from './book.ts'
import { errorAdvice } from './error-advice.ts'
import { bulletList, type DocsPage, operationList, paragraphs } from './pages.ts'
import type { CodeSamples } from './panel.ts'
import { REFUSALS_SECTION, type RefusalCode, refusalAddress } from './refusal-codes.ts'
import { codeSamples, fencedSamples } from './samples.ts'

export function errorPages(book: DocsBook, codes: readonly RefusalCode[]): DocsPage[] {
  const { title } = book.document.info
  const about =
    'A refused request has one of these codes in the header X-Error-Code, and says why in a sentence.'
  const overview: DocsPage = {
    part: 'api',
    section: REFUSALS_SECTION.id,
    title: `${REFUSALS_SECTION.title} · ${title}`,
    about,
    markdown: paragraphs(
      `# ${REFUSALS_SECTION.title}`,
      about,
      fencedSamples(HANDLING),
      '## Of any operation',
      codeList(codes.filter(({ isUniversal }) => isUniversal)),
      '## Of single operations',
      codeList(codes.filter(({ isUniversal }) => !isUniversal)),
    ),
  }
  const pageOf = (refusal: RefusalCode): DocsPage => ({
    part: 'api',
    section: `${REFUSALS_SECTION.id}/${refusal.code}`,
    title: `${refusal.code} · ${title}`,
    about: [...refusal.sentences.keys()][0] ?? '',
    markdown: errorText(book, refusal),
  })
  return [overview, ...codes.map(pageOf)]
}

const HANDLING: CodeSamples = {
  curl: `curl -i "$URL/agents/agent_unknown" -H "Authorization: Bearer $KEY"`,
  typescript: `import { Refused } from 'agentpay'

try {
  await pay.agents.get('agent_unknown')
} catch (error) {
  if (error instanceof Refused && error.code === 'agent_not_found') console.log(error.message)
  else throw error
}`,
  python: `from agentpay import Refused

try:
    pay.agents.get("agent_unknown")
except Refused as error:
    if error.code != "agent_not_found":
        raise
    print(error)`,
  cli: 'agentpay agents get agent_unknown --json',
}

const codeList = (codes: readonly RefusalCode[]): string =>
  bulletList(
    codes.map(({ code, statuses }) => `[\`${code}\`](${refusalAddress(code)}) ${statuses.join(', ')}`),
  )

function errorText(book: DocsBook, refusal: RefusalCode): string {
  const { code, statuses, sentences } = refusal
  const advice = remediesOf(refusal)
  const { lead, entry } = helpingOperation(book, refusal, advice)
  const samples = entry ? codeSamples(book, entry) : {}
  const repeatable = { curl: `${samples.curl} \\\n  -H "Idempotency-Key: order-4711"` }
  return paragraphs(
    `# \`${code}\``,
    statuses.map(status => `${status} ${STATUS_CODES[status] ?? ''}`).join(' or '),
    '## What it means',
    ...sentences.keys(),
    '## Why it happens',
    errorAdvice.get(code)?.cause,
    ...returnedBy(book, refusal),
    '## How to fix it',
    ...advice,
    lead,
    fencedSamples(REPEATED.has(code) ? repeatable : samples),
  )
}

function returnedBy(book: DocsBook, { sentences, isUniversal }: RefusalCode): string[] {
  if (isUniversal) return ['Any operation can return it.']
  return [...sentences].flatMap(([sentence, entries]) => [
    sentences.size > 1 ? `“${sentence}” is returned by:` : 'It is returned by:',
    operationList(book, entries),
  ])
}

/** The advice of the code, or the remedies in its messages, and then that of each status. */
function remediesOf({ code, statuses, sentences, isUniversal }: RefusalCode): string[] {
  const wishes = [...sentences.keys()].map(sentence => /[.:] ([A-Z].*)$/s.exec(sentence)?.[1] ?? '')
  const general = statuses.map(status => BY_STATUS[status] ?? BY_STATUS[status.at(0) ?? ''] ?? '')
  const own = [errorAdvice.get(code)?.remedy ?? '', ...(isUniversal ? [] : wishes)]
  return [...new Set([...own, ...general])].filter(Boolean)
}

const IF_IT_PERSISTS = 'If it persists, contact the operator of this installation with the `X-Request-Id`.'

const BY_STATUS: Readonly<Record<string, string>> = {
  400: 'Change the request, or the record that it is about. The same request fails again until then.',
  401: 'Send a credential that is valid: `Authorization: Bearer …`.',
  402: 'Pay what the header `WWW-Authenticate` requests, and repeat the request with `Authorization: Payment …`.',
  403: 'Use a credential, a role or a person with the right. The message says which.',
  404: 'Check the id: it must be yours, and of the same mode (test or live). Records of other owners are not visible to you.',
  409: 'Read the record again before you decide whether to send the request once more.',
  410: 'It existed and does not come back. Create a new one.',
  413: 'Send less at once. The message says how much is accepted.',
  422: 'The content was read and cannot be used. The message says why. Send other content.',
  429: 'Wait for as many seconds as `Retry-After` says, then send the same request.',
  3: 'Repeat the request at the address in the header `Location`.',
  4: 'Do what the message says. The same request fails until then.',
  500: `Repeat it with the same \`Idempotency-Key\`: nothing happens twice. ${IF_IT_PERSISTS}`,
  503: `Repeat it after \`Retry-After\` seconds, with the same \`Idempotency-Key\` unless the message asks for a new one: nothing happens twice. ${IF_IT_PERSISTS}`,
  5: `The same \`Idempotency-Key\` gets the same answer for 24 hours. ${IF_IT_PERSISTS}`,
}

/** Repeated with the same key, such a request happens once. */
const REPEATED: ReadonlySet<string> = new Set([
  'body_incomplete',
  'in_progress',
  'idempotency_key_reused',
  'busy',
])

interface Helping {
  readonly lead: string
  readonly entry?: OperationEntry | undefined
}

/** A call that helps: what the advice names, the list with the right id, the record, or the request as it succeeds. */
function helpingOperation(book: DocsBook, refusal: RefusalCode, advice: readonly string[]): Helping {
  const { code, sentences, isUniversal } = refusal
  const entry = book.entries.find(({ key }) => key === errorAdvice.get(code)?.operation)
  if (isUniversal)
    return {
      lead: REPEATED.has(code)
        ? 'A request that can be repeated:'
        : `For example, “${entry?.operation.summary}”:`,
      entry,
    }
  const named = operationNamedIn(book, [...advice, ...sentences.keys()])
  if (named) return { lead: `“${named.operation.summary}” helps:`, entry: named }
  const failing = [...sentences.values()].flat()
  const [, missing] = /^(\w+)_not_found$/.exec(code) ?? []
  const list = missing === undefined ? undefined : book.entries.find(({ key }) => isListOf(missing, key))
  if (list) return { lead: 'Find an id that exists:', entry: list }
  const read = failing.map(one => readOperation(book, one, code)).find(Boolean)
  if (read && missing === undefined) return { lead: 'Read the record as it is now:', entry: read }
  return { lead: 'The request in full, as it succeeds:', entry: failing[0] }
}

function isListOf(record: string, key: string): boolean {
  const [noun = '', verb] = key.split('.')
  return verb === 'list' && singularOf(noun) === record
}

/** Reads the record that a failing operation changes, if the code is about that record. */
function readOperation(
  book: DocsBook,
  { key, method, path }: OperationEntry,
  code: string,
): OperationEntry | undefined {
  const [noun = ''] = key.split('.')
  const read = book.entries.find(one => one.key === `${noun}.get`)
  const isOnRecord =
    read !== undefined && method !== 'GET' && (path === read.path || path.startsWith(`${read.path}/`))
  return isOnRecord && code.startsWith(`${singularOf(noun)}_`) ? read : undefined
}

/** `card_request` of `cardRequests`. */
const singularOf = (noun: string): string =>
  noun
    .replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
    .replace(/ies$/, 'y')
    .replace(/s$/, '')

function operationNamedIn(book: DocsBook, texts: readonly string[]): OperationEntry | undefined {
  const [, method, path = ''] =
    /\b(GET|POST|PUT|PATCH|DELETE) (\/[\w/{}.-]*[\w}])/.exec(texts.join('\n')) ?? []
  const shape = (text: string): string => text.replace(/\{\w+\}/g, '{}')
  return book.entries.find(entry => entry.method === method && shape(entry.path) === shape(path))
}
