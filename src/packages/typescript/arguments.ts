import { callOptions, checkOptions } from './known-options.ts'
import type { Operation } from './operation.ts'
import type { CallOptions } from './options.ts'
import type { Call } from './send.ts'

/**
 * Arguments are the ids of the path, then one object with the members of query or body, then options:
 * `pay.agents.freeze(id, { reason }, { signal })`. Anything else is refused before a request is sent: the command takes
 * every id without its name, so that people write `pay.mpp.list('intent_…')`.
 */
export function callOf(operation: Operation, given: readonly unknown[]): Call {
  const { params: names, input: place } = operation
  const ids = names.map((name, at) => [name, idOf(given[at], operation)])
  const input = place === undefined ? undefined : inputOf(given[names.length], operation)
  const [options, ...more] = given.slice(names.length + (place === undefined ? 0 : 1))
  checkOptions(`pay.${operation.key}`, options, callOptions)
  if (more.some(one => one !== undefined))
    throw new TypeError(`pay.${operation.key} takes nothing after its options`)
  return {
    operation,
    params: Object.fromEntries(ids),
    // An operation that takes members gets an empty body if the call has none.
    input: input ?? (place === 'body' ? {} : undefined),
    options: (options ?? {}) as CallOptions,
  }
}

function idOf(given: unknown, operation: Operation): string {
  if (typeof given === 'string') return given
  const { key, params, input } = operation
  const call = example(operation, input === 'body' ? ['{ … }'] : [])
  throw new TypeError(`pay.${key} takes ${params.join(' and ')} first, as text: ${call}`)
}

function inputOf(given: unknown, operation: Operation): Call['input'] {
  if (given === undefined || given === null) return undefined
  if (typeof given === 'object' && !Array.isArray(given)) return given as Call['input']
  const { key, params, idMembers } = operation
  const prefix = /^([a-z]+)_/.exec(String(given))?.[1]
  const [, member] = idMembers.find(([of]) => of === prefix) ?? []
  const place = params.length === 0 ? '' : ` after ${params.join(' and ')}`
  const call = example(operation, [member === undefined ? '{ … }' : `{ ${member}: '${prefix}_…' }`])
  throw new TypeError(`pay.${key} takes one object${place}: put ${member ?? 'its members'} into it: ${call}`)
}

const example = ({ key, params }: Operation, rest: readonly string[]): string =>
  `pay.${key}(${[...params, ...rest].join(', ')})`
