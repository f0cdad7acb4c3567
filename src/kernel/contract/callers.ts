import type { z } from 'zod'
import type { EventSchemas } from './events.ts'
import {
  type Contract,
  del,
  get,
  type ListContract,
  list,
  type Nothing,
  type Operation,
  patch,
  post,
  put,
  type RefusalSpec,
  type RunMode,
} from './operation.ts'

type AnyContract = Contract<Nothing, Nothing, Nothing, never, Record<never, never>, RunMode>

/** Who may call operations, and the scope that a key needs for them. */
type Access = Pick<AnyContract, 'callers' | 'scope'>

/** An operation can still name callers or a scope of its own. */
type Without<C> = Omit<C, keyof Access> & Partial<Access>

const declareFor =
  (access: Access, verb: typeof post) =>
  <
    const P extends string,
    R extends z.ZodType,
    Q extends z.ZodType = Nothing,
    B extends z.ZodType = Nothing,
    F extends string = never,
    E extends EventSchemas = Record<never, never>,
    K extends RunMode = 'plain',
  >(
    path: P,
    contract: Without<Contract<Q, B, R, F, E, K>>,
  ): Operation<P, Q, B, R, F, E, K> =>
    verb(path, { ...access, ...contract })

/** The verbs of `operation.ts`, for operations that the same callers may call. */
export const operationsFor = (access: Access) => ({
  get: declareFor(access, get),
  post: declareFor(access, post),
  put: declareFor(access, put),
  patch: declareFor(access, patch),
  del: declareFor(access, del),

  list: <
    const P extends string,
    T extends z.ZodType,
    S extends z.ZodRawShape = Record<never, never>,
    F extends string = never,
  >(
    path: P,
    contract: Without<ListContract<S, T, F>>,
  ) => list(path, { ...access, ...contract }),

  /** One record, by the id in the path. */
  getOne: <const P extends string, R extends z.ZodType, F extends string>(
    path: P,
    name: string,
    record: R,
    fails: Readonly<Record<F, RefusalSpec>>,
  ) => get(path, { ...access, summary: `Get ${name}`, returns: [200, record], fails }),
})

/** Only the service's own processes run these: they have no route. */
export const internal = operationsFor({ callers: [] })
/** For the operator, by the dashboard secret. */
export const operator = operationsFor({ callers: ['dash'] })
/** People who are signed in to the console. */
export const signedIn = operationsFor({ callers: ['console'] })
/** Without a credential. */
export const open = operationsFor({ callers: ['public'] })
