import express, { type Request, type RequestHandler, type Response } from 'express'
import { allowedMethods, mountRoutes } from '../../../src/derive/http/routes.ts'
import type { RegisteredOperation } from '../../../src/kernel/contract/operation.ts'

export type RouteMatch =
  | { readonly key: string; readonly params: Readonly<Record<string, string>> }
  | { readonly allow: readonly string[] }
  | undefined

/** Asks the real routes, and answers nothing: which operation serves a path, or which methods it has. */
export function routesTo(operations: readonly RegisteredOperation[]) {
  let found: RouteMatch
  const serve =
    ({ key }: RegisteredOperation): RequestHandler =>
    ({ params }) => {
      found = { key, params: { ...(params as Record<string, string>) } }
      answered()
    }
  let answered = (): void => undefined
  const app = express().disable('x-powered-by')
  mountRoutes(app, operations, serve)
  return async (method: string, url: string): Promise<RouteMatch> => {
    found = undefined
    await new Promise<void>(resolve => {
      answered = resolve
      const response = {} as Response
      app({ method, url, headers: {} } as Request, response, (error: unknown) => {
        const allow = error ? [] : allowedMethods(response)
        if (allow.length > 0) found = { allow }
        resolve()
      })
    })
    return found
  }
}
