import { universalProblems } from '../../kernel/contract/problem.ts'
import { referencedName } from './example.ts'
import {
  omitCommonResponseHeaders,
  operationResponseHeaders,
  REFUSAL_CODE_HEADER,
  refusalCodeHeader,
} from './headers.ts'
import { isSameJson } from './published-schemas.ts'
import type { OperationObject, ResponseObject, SchemaReference } from './types.ts'

const AS_EVERYWHERE = 'Also '
const NAME = 'refused'
const ANY_CODE = { $ref: `#/components/headers/${REFUSAL_CODE_HEADER}` }
const CONTENT = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }

type Responses = OperationObject['responses']

/** The sentences that the document has once, by code. An operation names these codes only. */
export type Sentences = Readonly<Record<string, string>>

const universalSentences: Sentences = Object.fromEntries(
  Object.entries(universalProblems).map(([code, [, sentence]]) => [code, sentence]),
)

const OFTEN = 2
const NAMED = 'Refused: the operation names the codes.'

/** The sentences of the problems that every operation can have, and of the refusals that several operations have. */
export function sharedSentences(refusals: readonly ResponseObject[]): Sentences {
  const same = Map.groupBy(
    refusals.flatMap(({ description }) => casesIn(description)),
    one => words(...one),
  )
  const frequent = [...same.values()].filter(cases => cases.length >= OFTEN).map(([one = ['', '']]) => one)
  return { ...Object.fromEntries(frequent.reverse()), ...universalSentences }
}

/** Every operation refers to this component, or to one with more headers, so it has the shared sentences. */
export const refusedWith = (sentences: Sentences): Record<string, ResponseObject> => ({
  [NAME]: {
    description: [NAMED, ...Object.entries(sentences).map(one => words(...one))].join('\n\n'),
    headers: { [REFUSAL_CODE_HEADER]: ANY_CODE },
    content: CONTENT,
  },
})

export const sentencesIn = (
  responses: Readonly<Record<string, ResponseObject | SchemaReference>>,
): Sentences => ({
  ...universalSentences,
  ...Object.fromEntries(casesIn(responses[NAME]?.description ?? '')),
})

export const isRefusalResponse = ({ headers = {} }: ResponseObject): boolean => REFUSAL_CODE_HEADER in headers

const isUnmetered = ({ headers = {} }: ResponseObject): boolean =>
  !('X-RateLimit-Limit' in headers) && 'X-Request-Id' in headers

const isLinked = ({ headers = {} }: ResponseObject): boolean => 'Link' in headers

type Case = readonly [code: string, message: string]

/** The refusal that an operation has for these cases, unless it has another form, or headers of its own. */
function plainRefusal(
  cases: readonly Case[],
  status: string,
  { unmetered, linked }: { readonly unmetered: boolean; readonly linked?: boolean },
): ResponseObject {
  const codes = cases.map(([code]) => code)
  return {
    description: cases.map(one => words(...one)).join('\n\n'),
    headers: {
      [REFUSAL_CODE_HEADER]: refusalCodeHeader(codes),
      ...operationResponseHeaders(
        unmetered ? { limits: { unmetered: true } } : {},
        Number(status),
        ...(linked ? (['Link'] as const) : []),
      ),
    },
    content: {
      'application/json': {
        ...CONTENT['application/json'],
        examples: Object.fromEntries(cases.map(([code, error]) => [code, { value: { error } }])),
      },
    },
  }
}

export interface Refusals {
  readonly whole: Readonly<Record<string, ResponseObject>>
  readonly sentences: Sentences
  /** The components to which operations refer. */
  readonly refused: Record<string, ResponseObject>
}

/** The API specification lists these with each operation. */
const ALWAYS_NAMED = new Set(['401', '429'])

/**
 * Writes the refusals of an operation in two parts. A reference for each status has the operation's own codes
 * as its description: a paragraph for each code, and one for all codes whose sentence is in the component.
 * `default` lists, for each other status, the problems that other operations have too.
 */
export function compactRefusals(responses: Responses, refusals: Refusals): Responses {
  const short: Record<string, ResponseObject | SchemaReference> = {}
  const lists: string[] = []
  let unmetered = false
  for (const [status, one] of Object.entries(responses)) {
    const response = '$ref' in one ? resolveResponse(one, refusals.whole) : one
    const { own, common } = casesOfPlainRefusal(response, status) ?? {}
    if (!own) short[status] = response
    if (own && own.length > 0)
      short[status] = referenceTo(response, shortWords(own, refusals.sentences), refusals)
    if (common && common.length > 0) lists.push(`${status} ${listed(common)}`)
    unmetered ||= own !== undefined && isUnmetered(response)
  }
  if (lists.length === 0) return short
  // An answer in a list may be one that says when to try again.
  const forNow = plainRefusal([], '503', { unmetered })
  return { ...short, default: referenceTo(forNow, `${AS_EVERYWHERE}${lists.join('; ')}.`, refusals) }
}

/** Undefined if the answer is no refusal, or has another form. */
function casesOfPlainRefusal(response: ResponseObject, status: string) {
  if (!isRefusalResponse(response)) return undefined
  const cases = casesIn(response.description)
  const kind = { unmetered: isUnmetered(response), linked: isLinked(response) }
  if (!isSameJson(response, plainRefusal(cases, status, kind))) return undefined
  const end = ALWAYS_NAMED.has(status) ? cases.length : cases.findLastIndex(one => !isUniversal(one)) + 1
  return { own: cases.slice(0, end), common: cases.slice(end) }
}

/** Refers to a component with the same headers. */
function referenceTo(response: ResponseObject, description: string, { refused }: Refusals): SchemaReference {
  const { headers = {} } = omitCommonResponseHeaders(response)
  const isForNow = 'Retry-After' in headers
  const kinds = [
    ...(isForNow ? ['for-now'] : []),
    ...(isUnmetered(response) ? ['unmetered'] : []),
    ...(isLinked(response) ? ['linked'] : []),
  ]
  const name = [NAME, ...kinds].join('.')
  refused[name] ??= {
    description: NAMED,
    headers: { ...headers, [REFUSAL_CODE_HEADER]: ANY_CODE },
    content: CONTENT,
  }
  return { $ref: `#/components/responses/${name}`, description }
}

export function resolveResponse(
  { $ref, description }: SchemaReference,
  responses: Readonly<Record<string, ResponseObject | SchemaReference>>,
): ResponseObject {
  const found = responses[referencedName($ref)]
  if (!found || '$ref' in found) throw new Error(`There is no ${$ref}.`)
  return { ...found, ...(description === undefined ? {} : { description }) }
}

const isCompactRefusal = ({ headers = {} }: ResponseObject): boolean => {
  const code = headers[REFUSAL_CODE_HEADER]
  return code !== undefined && '$ref' in code
}

/** Restores the refusals of an operation. Those that several operations share word for word are references. */
export function expandRefusals(
  { default: common, ...own }: Readonly<Record<string, ResponseObject>>,
  sentences: Sentences,
): Responses {
  const unmetered = common !== undefined && isUnmetered(common)
  const lists = [...(common?.description ?? '').matchAll(/(\d{3}) ([^;]+)[;.]/g)]
  const codes = Object.fromEntries(lists.map(([, status = '', list = '']) => [status, codesIn(list)]))
  const statuses = Object.keys({ ...codes, ...own })
  return Object.fromEntries(
    statuses.map(status => {
      const response = own[status]
      if (response && !isCompactRefusal(response)) return [status, response]
      const also = universalCases(codes[status] ?? [])
      const cases = [...casesIn(response?.description ?? '', sentences), ...also]
      const kind = { unmetered, linked: response !== undefined && isLinked(response) }
      if (!unmetered && !kind.linked && cases.every(isUniversal)) return [status, sharedReference(cases)]
      return [status, plainRefusal(cases, status, kind)]
    }),
  )
}

const isUniversal = ([code, message]: Case): boolean => universalSentences[code] === message

/** The operations that have the same problems refer to one component, named by their codes. */
const sharedReference = (cases: readonly Case[]): SchemaReference => ({
  $ref: `#/components/responses/${cases.map(([code]) => code).join('.')}`,
})

const universalCases = (codes: readonly string[]): Case[] =>
  codes.map(code => [code, universalSentences[code] ?? ''])

/** The refusals to which operations refer, by the codes in their names. */
export function sharedRefusals(operations: readonly OperationObject[]): Record<string, ResponseObject> {
  const found = operations
    .flatMap(({ responses }) => Object.entries(responses))
    .flatMap(([status, one]) => ('$ref' in one ? [[referencedName(one.$ref), status] as const] : []))
  return Object.fromEntries(
    [...new Map(found)]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, status]) => [
        name,
        plainRefusal(universalCases(name.split('.')), status, { unmetered: false }),
      ]),
  )
}

const listed = (cases: readonly Case[]): string => cases.map(([code]) => `\`${code}\``).join(', ')

const words = (code: string, message: string): string => `\`${code}\`: ${message}`

/** Names a run of codes whose sentences stand elsewhere in one paragraph. */
function shortWords(cases: readonly Case[], sentences: Sentences): string {
  const paragraphs: string[] = []
  let named: Case[] = []
  const closeRun = (): void => {
    if (named.length > 0) paragraphs.push(`${AS_EVERYWHERE}${listed(named)}.`)
    named = []
  }
  for (const one of cases) {
    const [code, message] = one
    if (sentences[code] === message) named.push(one)
    else {
      closeRun()
      paragraphs.push(words(code, message))
    }
  }
  closeRun()
  return paragraphs.join('\n\n')
}

const casesIn = (description: string, sentences: Sentences = universalSentences): Case[] =>
  description.split(/\n\n(?=`|Also )/).flatMap((paragraph): Case[] => {
    if (paragraph.startsWith(AS_EVERYWHERE))
      return codesIn(paragraph).map(code => [code, sentences[code] ?? ''])
    const [, code, message] = /^`(\w+)`: ([\s\S]*)$/.exec(paragraph) ?? []
    return code !== undefined && message !== undefined ? [[code, message]] : []
  })

const codesIn = (list: string): string[] => [...list.matchAll(/`(\w+)`/g)].map(([, code = '']) => code)
