import type { AnyOperation } from '../../../kernel/contract/operation.ts'

type Address = Readonly<Record<string, string | number | undefined>>

/** The names of the parameters in an operation's path. */
export const parametersIn = ({ path }: AnyOperation): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)

/** What a list is asked by: its address holds the parameters of the path beside the filters. */
export function questionOf(operation: AnyOperation, address: Address) {
  const query: Record<string, string | number | undefined> = { ...address }
  const params: Record<string, string> = {}
  for (const name of parametersIn(operation)) {
    params[name] = String(query[name] ?? '')
    delete query[name]
  }
  return { params, query }
}
