import { hash, timingSafeEqual } from 'node:crypto'
import type { Areas, Authenticate } from '../kernel/area.ts'
import { clock } from '../kernel/clock.ts'
import type { Actor } from '../kernel/context.ts'

import { type Database, sqlOn } from '../kernel/database.ts'
import type { AnyOperation } from '../kernel/operation.ts'
import { Problem } from '../kernel/problem.ts'
import { asProblem } from '../kernel/transaction.ts'

/** Half of the second within which a revoked credential must stop everywhere. */
const TRUSTED_FOR = 500
const REMEMBERED = 10_000

const nobody = { id: null, tenant: null, agentId: null, scopes: new Set<string>() }
export const anyone: Actor = { type: 'public', ...nobody }
export const dashboard: Actor = { type: 'dash', ...nobody }

export interface Presented {
  readonly authorization: string | undefined
  readonly dashboardSecret: string | undefined
}

const digest = (secret: string): Buffer => hash('sha256', secret, 'buffer')

/** Who presents these credentials; a Problem where nobody does. */
export type Gate = (operation: AnyOperation, presented: Presented) => Promise<Actor>

export function gate(areas: Areas, database: Database, dashboardSecret: string): Gate {
  const holderOf = remembering(authenticators(areas), database)
  const expected = digest(dashboardSecret)
  return async ({ callers, scope }, { authorization, dashboardSecret: given }) => {
    if (callers.includes('public')) return anyone
    const isDashboard = given !== undefined && timingSafeEqual(digest(given), expected)
    if (isDashboard && (callers.includes('dash') || !authorization)) return admit(dashboard, callers)
    const token = /^Bearer +([\w-]{8,200})$/i.exec(authorization ?? '')?.[1]
    const actor = token && (await holderOf(token))
    if (!actor) throw new Problem('unauthenticated', undefined, { 'WWW-Authenticate': 'Bearer' })
    return admit(actor, callers, scope)
  }
}

function admit(actor: Actor, callers: AnyOperation['callers'], scope?: string): Actor {
  if (!callers.some(caller => caller === actor.type))
    throw new Problem(
      'wrong_caller',
      `This operation is for ${callers.join(' or ')} credentials; yours is of the kind ${actor.type}.`,
    )
  if (scope && actor.type !== 'dash' && !actor.scopes.has(scope))
    throw new Problem('missing_scope', `The credential lacks the scope ${scope}.`)
  return actor
}

const authenticators = (areas: Areas): ReadonlyMap<string, Authenticate> =>
  new Map(Object.values(areas).flatMap(area => Object.entries(area.credentials)))

/** Looks a secret up at most twice a second, however often it is presented. Only its digest is remembered. */
function remembering(byPrefix: ReadonlyMap<string, Authenticate>, database: Database) {
  const known = new Map<string, { holder: Promise<Actor | undefined>; until: number }>()
  return (token: string): Promise<Actor | undefined> => {
    const authenticate = byPrefix.get(token.slice(0, token.indexOf('_')))
    if (!authenticate) return Promise.resolve(undefined)
    const name = hash('sha256', token, 'base64url')
    const now = clock.ticks()
    const found = known.get(name)
    if (found && found.until > now) return found.holder
    if (known.size >= REMEMBERED) known.clear()
    const holder = authenticate(token, sqlOn(database.pool)).catch((error: unknown) => {
      known.delete(name)
      throw asProblem(error)
    })
    known.set(name, { holder, until: now + TRUSTED_FOR })
    return holder
  }
}
