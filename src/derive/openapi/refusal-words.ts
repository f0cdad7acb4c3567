import { universalProblems } from '../../kernel/contract/problem.ts'
import { referencedName } from './example.ts'
import {
  omitCommonResponseHeaders,
  REFUSAL_CODE_HEADER,
  refusalCodeHeader,
  withCommonHeaders,
} from './headers.ts'
import { isSameJson } from './published-schemas.ts'
import type { OpenapiDocument, ResponseObject, SchemaReference } from './types.ts'

const AS_EVERYWHERE = 'Also '
const NAME = 'refused'
const ANY_CODE = { $ref: `#/components/headers/${REFUSAL_CODE_HEADER}` }
const CONTENT = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }

/** The sentences that the document has once, by code. An operation names these codes only. */
export type Sentences = Readonly<Record<string, string>>

const universalSentences: Sentences = Object.fromEntries(
  Object.entries(universalProblems).map(([code, [, sentence]]) => [code, sentence]),
)

const OFTEN = 4
const NAMED = 'Refused: the operation names the codes.'

/** The sentences of the problems that every operation can have, and of the refusals that many operations have. */
export function sharedSentences(refusals: readonly ResponseObject[]): Sentences {
  const same = Map.groupBy(
    refusals.flatMap(({ description }) => casesIn(description)),
    one => words(...one),
  )
  const frequent = [...same.values()].filter(cases => cases.length >= OFTEN).map(([one = ['', '']]) => one)
  return { ...Object.fromEntries(frequent.reverse()), ...universalSentences }
}

const refusedWords = (sentences: Sentences): string => {
  const frequent = Object.entries(sentences).filter(([code]) => !(code in universalSentences))
  return [NAMED, ...frequent.map(one => words(...one))].join('\n\n')
}

export const sentencesIn = (
  responses: Readonly<Record<string, ResponseObject | SchemaReference>>,
): Sentences => ({
  ...universalSentences,
  ...Object.fromEntries(casesIn(responses[NAME]?.description ?? '')),
})

export const isRefusalResponse = ({ headers = {} }: ResponseObject): boolean => REFUSAL_CODE_HEADER in headers

/**
 * Writes a refusal with the operation's own codes as a reference whose description names them: a paragraph
 * for each code, and one for all codes whose message is in other components. Keeps a refusal that has another
 * form, or headers of its own.
 */
export function compactRefusal(
  response: ResponseObject,
  shared: Record<string, ResponseObject>,
  sentences: Sentences,
): ResponseObject | SchemaReference {
  const { headers = {} } = response
  const name = [NAME, ...('Retry-After' in headers ? ['for-now'] : []), ...unmetered(headers)].join('.')
  const component: ResponseObject = {
    description: name === NAME ? refusedWords(sentences) : NAMED,
    headers: { ...headers, [REFUSAL_CODE_HEADER]: ANY_CODE },
    content: CONTENT,
  }
  shared[name] ??= component
  const reference = {
    $ref: `#/components/responses/${name}`,
    description: shortWords(response.description, sentences),
  }
  const isPlain = isSameJson(expandRefusal(resolveResponse(reference, shared), sentences), response)
  if (!isPlain && shared[name] === component) delete shared[name]
  return isPlain ? reference : response
}

const unmetered = (headers: object): string[] => ('X-Request-Id' in headers ? ['unmetered'] : [])

export function resolveResponse(
  { $ref, description }: SchemaReference,
  responses: Readonly<Record<string, ResponseObject | SchemaReference>>,
): ResponseObject {
  const found = responses[referencedName($ref)]
  if (!found || '$ref' in found) throw new Error(`There is no ${$ref}.`)
  return { ...found, ...(description === undefined ? {} : { description }) }
}

export const isCompactRefusal = ({ headers = {} }: ResponseObject): boolean => {
  const code = headers[REFUSAL_CODE_HEADER]
  return code !== undefined && '$ref' in code
}

export function expandRefusal(
  { description, headers = {} }: ResponseObject,
  sentences: Sentences,
): ResponseObject {
  const cases = casesIn(description, sentences)
  return {
    description: cases.map(([code, error]) => words(code, error)).join('\n\n'),
    headers: {
      ...headers,
      [REFUSAL_CODE_HEADER]: { schema: refusalCodeHeader(cases.map(([code]) => code)).schema },
    },
    content: contentOf(cases),
  }
}

const words = (code: string, message: string): string => `\`${code}\`: ${message}`

/** Names a run of codes whose sentences stand elsewhere in one paragraph. */
function shortWords(description: string, sentences: Sentences): string {
  const paragraphs: string[] = []
  let named: string[] = []
  const closeRun = (): void => {
    if (named.length > 0) paragraphs.push(`${AS_EVERYWHERE}${named.join(', ')}.`)
    named = []
  }
  for (const [code, message] of casesIn(description)) {
    if (sentences[code] === message) named.push(`\`${code}\``)
    else {
      closeRun()
      paragraphs.push(words(code, message))
    }
  }
  closeRun()
  return paragraphs.join('\n\n')
}

/**
 * The refusals that all operations share word for word. For each status, the most frequent set is named after
 * the status; a reference with more codes lists them, and other sets are named by their codes. Their examples
 * repeat the description.
 */
export class SharedRefusals {
  readonly #responses: Readonly<Record<string, ResponseObject>>
  readonly #names = new Map<string, string>()

  constructor({ paths, components: { responses } }: OpenapiDocument) {
    this.#responses = responses
    const used = Object.values(paths)
      .flatMap(item => Object.values(item))
      .flatMap(operation => Object.entries(operation.responses))
      .flatMap(([status, one]) => ('$ref' in one ? [{ status, name: referencedName(one.$ref) }] : []))
    for (const [status, all] of Map.groupBy(used, one => one.status)) {
      const [usual = '', ...others] = [...Map.groupBy(all, ({ name }) => name)]
        .sort(([, a], [, b]) => b.length - a.length)
        .map(([name]) => name)
      this.#names.set(usual, status)
      for (const name of others) this.#names.set(name, differently(name, usual, status))
    }
  }

  named({ $ref }: SchemaReference): SchemaReference {
    return { $ref: `#/components/responses/${this.#names.get(referencedName($ref))}` }
  }

  all(): Record<string, ResponseObject> {
    const named = Object.entries(this.#responses).map(([name, response]): [string, ResponseObject] => [
      this.#names.get(name) ?? name,
      { ...omitCommonResponseHeaders(response), content: CONTENT },
    ])
    return Object.fromEntries(named.sort(([a], [b]) => (a < b ? -1 : 1)))
  }
}

function differently(name: string, usual: string, status: string): string {
  const codes = name.split('.')
  const isMore = usual.split('.').every(code => codes.includes(code))
  return isMore ? [status, ...codes.filter(code => !usual.split('.').includes(code))].join('.') : name
}

const codesIn = (response: ResponseObject): string =>
  casesIn(response.description)
    .map(([code]) => code)
    .join('.')

export const expandSharedRefusals = (
  shared: Readonly<Record<string, ResponseObject | SchemaReference>>,
): Record<string, ResponseObject> =>
  Object.fromEntries(
    Object.values(shared).flatMap(one => {
      if ('$ref' in one) return []
      return [[codesIn(one), { ...withCommonHeaders(one), content: contentOf(casesIn(one.description)) }]]
    }),
  )

export function expandRefusalReference(
  reference: SchemaReference,
  shared: Readonly<Record<string, ResponseObject | SchemaReference>>,
): SchemaReference {
  const found = shared[referencedName(reference.$ref)]
  return found && 'headers' in found ? { $ref: `#/components/responses/${codesIn(found)}` } : reference
}

const contentOf = (cases: readonly [code: string, message: string][]) => ({
  'application/json': {
    ...CONTENT['application/json'],
    examples: Object.fromEntries(cases.map(([code, error]) => [code, { value: { error } }])),
  },
})

const casesIn = (
  description: string,
  sentences: Sentences = universalSentences,
): [code: string, message: string][] =>
  description.split(/\n\n(?=`|Also )/).flatMap((paragraph): [string, string][] => {
    if (paragraph.startsWith(AS_EVERYWHERE))
      return [...paragraph.matchAll(/`(\w+)`/g)].map(([, code = '']) => [code, sentences[code] ?? ''])
    const [, code, message] = /^`(\w+)`: ([\s\S]*)$/.exec(paragraph) ?? []
    return code !== undefined && message !== undefined ? [[code, message]] : []
  })
