import { type IRouter, type RequestHandler, type RequestParamHandler, type Response, Router } from 'express'
import type { HttpMethod, RegisteredOperation } from '../../kernel/contract/operation.ts'
import { isIdShaped, isNameShaped } from '../../values/ids.ts'

type Serve = (registered: RegisteredOperation) => RequestHandler

/** The operations of a noun, by address without `/v1`. */
type Noun = Map<string, RegisteredOperation[]>

/** An address is what the contract says, to the letter. */
const EXACT = { caseSensitive: true, strict: true }

/** Mounts a router for each noun, which is the first segment of an address. */
export function mountRoutes(app: IRouter, operations: readonly RegisteredOperation[], serve: Serve): void {
  for (const [name, noun] of hotFirst(nounsOf(operations)))
    app.use(mountOf(name), createNounRouter(noun, serve))
}

function nounsOf(operations: readonly RegisteredOperation[]): ReadonlyMap<string, Noun> {
  const nouns = new Map<string, Noun>()
  for (const registered of operations)
    for (const address of registered.addresses.filter(isBare)) {
      const [, name = ''] = address.split('/')
      const noun: Noun = nouns.get(name) ?? new Map()
      nouns.set(name, noun.set(address, [...(noun.get(address) ?? []), registered]))
    }
  return nouns
}

/** Express asks one router after the other, so those of intents, payments and cards come first. */
const hotFirst = (nouns: ReadonlyMap<string, Noun>) =>
  [...nouns].toSorted(([, a], [, b]) => Number(isHot(b)) - Number(isHot(a)))

const isHot = (noun: Noun): boolean =>
  [...noun.values()].flat().some(({ operation: { run } }) => run === 'hot' || run === 'hot-external')

const isBare = (address: string): boolean => !address.startsWith('/v1/')

/**
 * Mounts at `/` and at `/v1` what begins with the noun, and takes only `/v1` away. A path given as a string would
 * take the noun away, and `/agents/` would be the same as `/agents`. RFC 8615: well-known addresses belong to the host.
 */
const mountOf = (noun: string): RegExp =>
  noun === '.well-known'
    ? /^(?=\/\.well-known\/)/
    : new RegExp(`^(?:/v1)?(?=/${noun.replaceAll('.', '\\.')}(?:/|$))`)

function createNounRouter(noun: Noun, serve: Serve): Router {
  const router = Router(EXACT)
  for (const name of parameterNames(noun)) router.param(name, requireShape)
  for (const [address, operations] of staticFirst(noun)) {
    const route = router.route(address.replace(/\{(\w+)\}/g, ':$1'))
    for (const registered of operations) route[verbOf(registered)](serve(registered))
    // Passes on: another route may match the same path, as `/things/{id}` does `/things/best`.
    route.all(allows(operations.map(({ operation }) => operation.method)))
  }
  return router
}

const parameterNames = (noun: Noun): ReadonlySet<string> =>
  new Set(
    [...noun.keys()].flatMap(address => Array.from(address.matchAll(/\{(\w+)\}/g), ([, name = '']) => name)),
  )

/** Express takes the first route that matches. */
const staticFirst = (noun: Noun) => [...noun].toSorted(([a], [b]) => (sortKey(a) < sortKey(b) ? -1 : 1))

/** No address contains a tilde, and all that they do contain sorts before it. */
const sortKey = (address: string): string => address.replace(/\{\w+\}/g, '~')

const verbOf = ({ operation }: RegisteredOperation) => operation.method.toLowerCase() as Lowercase<HttpMethod>

/** A merchant's key is a name, and may contain spaces. All other parameters are ids. */
const requireShape: RequestParamHandler = (_request, _response, next, value: string, name) =>
  (name === 'key' ? isNameShaped : isIdShaped)(value) ? next() : next('route')

const METHODS: readonly HttpMethod[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

const allows =
  (methods: readonly HttpMethod[]): RequestHandler =>
  (_request, { locals }, next) => {
    locals.allowed = [...(locals.allowed ?? []), ...methods]
    next()
  }

/** The methods of the routes that match the address of a request which none of them answered. */
export const allowedMethods = ({ locals }: Pick<Response, 'locals'>): readonly HttpMethod[] =>
  METHODS.filter(method => locals.allowed?.includes(method))
