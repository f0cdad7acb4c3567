import findMyWay, { type HTTPMethod } from 'find-my-way'
import type { RegisteredOperation } from '../../kernel/contract/operation.ts'
import { isIdShaped, isNameShaped } from '../../values/ids.ts'

export interface Route {
  readonly registered: RegisteredOperation
  readonly params: Record<string, string>
}

export type RouteMatch = Route | { readonly allow: readonly string[] } | undefined

const METHODS: readonly HTTPMethod[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

export function createRouter(
  operations: readonly RegisteredOperation[],
): (method: string, path: string) => RouteMatch {
  const tree = findMyWay({ maxParamLength: 128 })
  for (const registered of operations)
    for (const address of registered.addresses)
      tree.on(registered.operation.method, address.replace(/\{(\w+)\}/g, ':$1'), ignored, registered)

  const find = (method: string, path: string): Route | undefined => {
    const found = tree.find(method as HTTPMethod, path)
    if (!found) return undefined
    const params = found.params as Record<string, string>
    return Object.entries(params).every(canBeThere)
      ? { registered: found.store as RegisteredOperation, params }
      : undefined
  }

  return (method, path) => {
    const found = find(method === 'HEAD' ? 'GET' : method, path)
    if (found) return found
    const allow = METHODS.filter(other => find(other, path))
    return allow.length > 0 ? { allow } : undefined
  }
}

/** A merchant's key is a name, and may contain spaces. All other parameters are ids. */
const canBeThere = ([name, value]: [string, string]): boolean =>
  name === 'key' ? isNameShaped(value) : isIdShaped(value)

function ignored(): void {}
