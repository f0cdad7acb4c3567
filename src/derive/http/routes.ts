import findMyWay, { type HTTPMethod } from 'find-my-way'
import type { Registered } from '../../kernel/contract/operation.ts'
import { looksLikeId, looksLikeName } from '../../values/ids.ts'

export interface Route {
  readonly registered: Registered
  readonly params: Record<string, string>
}

export type Found = Route | { readonly allow: readonly string[] } | undefined

const METHODS: readonly HTTPMethod[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

export function router(operations: readonly Registered[]): (method: string, path: string) => Found {
  const tree = findMyWay({ maxParamLength: 128 })
  for (const registered of operations)
    for (const address of registered.addresses)
      tree.on(registered.operation.method, address.replace(/\{(\w+)\}/g, ':$1'), ignored, registered)

  const find = (method: string, path: string): Route | undefined => {
    const found = tree.find(method as HTTPMethod, path)
    if (!found) return undefined
    const params = found.params as Record<string, string>
    return Object.entries(params).every(canBeThere)
      ? { registered: found.store as Registered, params }
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
  name === 'key' ? looksLikeName(value) : looksLikeId(value)

function ignored(): void {}
