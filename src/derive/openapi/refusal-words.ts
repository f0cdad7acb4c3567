import { type ProblemCode, universalProblems } from '../../kernel/contract/problem.ts'
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

export const isRefusalResponse = ({ headers = {} }: ResponseObject): boolean => REFUSAL_CODE_HEADER in headers

/**
 * Writes a refusal with the operation's own codes as a reference whose description names them: a paragraph
 * for each code, and one for all codes whose message is in other components. Keeps a refusal that has another
 * form, or headers of its own.
 */
export function compactRefusal(
  response: ResponseObject,
  shared: Record<string, ResponseObject>,
): ResponseObject | SchemaReference {
  const { headers = {} } = response
  const component: ResponseObject = {
    description: 'Refused: the operation names the codes.',
    headers: { ...headers, [REFUSAL_CODE_HEADER]: ANY_CODE },
    content: CONTENT,
  }
  const name = [NAME, ...('Retry-After' in headers ? ['for-now'] : []), ...unmetered(headers)].join('.')
  shared[name] ??= component
  const reference = { $ref: `#/components/responses/${name}`, description: shortWords(response.description) }
  const isPlain = isSameJson(expandRefusal(resolveResponse(reference, shared)), response)
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

export function expandRefusal({ description, headers = {} }: ResponseObject): ResponseObject {
  const cases = casesIn(description)
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

const universal = (code: string): string | undefined => universalProblems[code as ProblemCode]?.[1]

function shortWords(description: string): string {
  const cases = casesIn(description)
  const own = cases.filter(([code, message]) => universal(code) !== message)
  const others = cases.filter(one => !own.includes(one)).map(([code]) => `\`${code}\``)
  const last = others.length > 0 ? [`${AS_EVERYWHERE}${others.join(', ')}.`] : []
  return [...own.map(([code, message]) => words(code, message)), ...last].join('\n\n')
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

const casesIn = (description: string): [code: string, message: string][] =>
  description.split(/\n\n(?=`|Also )/).flatMap((paragraph): [string, string][] => {
    if (paragraph.startsWith(AS_EVERYWHERE))
      return [...paragraph.matchAll(/`(\w+)`/g)].map(([, code = '']) => [code, universal(code) ?? ''])
    const [, code, message] = /^`(\w+)`: ([\s\S]*)$/.exec(paragraph) ?? []
    return code !== undefined && message !== undefined ? [[code, message]] : []
  })
