import { ACCESS, eventsAndAliases } from './operation.ts'
import { accessBy, scopeIn } from './security.ts'
import type { OperationObject } from './types.ts'

/** What the description repeats for people of the other members of an operation. */
const factsOf = ({ security, 'x-events': events = [], 'x-aliases': aliases = [] }: OperationObject) => ({
  access: `${ACCESS} ${accessBy(security)}`,
  more: eventsAndAliases(events, aliases)
    .map(sentence => ` ${sentence}`)
    .join(''),
})

/** The operation without them, and without the scope that its security names. */
export function withoutFacts(operation: OperationObject): OperationObject {
  const { access, more } = factsOf(operation)
  const { 'x-scope': scope, ...rest } = operation
  const named = scopeIn(operation.security) === scope ? rest : operation
  const about = beforeEnd(operation.description, more)
  return { ...named, description: beforeEnd(about, `\n\n${access}`) }
}

const beforeEnd = (text: string, end: string): string =>
  text.endsWith(end) ? text.slice(0, text.length - end.length) : text

/** The inverse of `withoutFacts`. */
export function withFacts(operation: OperationObject): OperationObject {
  const { access, more } = factsOf(operation)
  const { description } = operation
  const scope = scopeIn(operation.security)
  return {
    ...(scope ? { 'x-scope': scope } : {}),
    ...operation,
    description: `${description.includes(ACCESS) ? description : `${description}\n\n${access}`}${more}`,
  }
}
