import { PLATFORM_OWNER } from '../../identity/customers/index.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { Failure } from '../../kernel/contract/operation.ts'
import type { SubjectType } from './data-export.ts'

/** Merchants have applied to the platform itself. */
const platform: Tenant = { ownerId: PLATFORM_OWNER, mode: 'live' }

export const merchant_needed: Failure = [
  400,
  'subject: with the dashboard secret name a merchant, by the id of its application. Others ask by a key of their account.',
]

/** The operator asks for those whom the platform knows; everybody else for an account of their own. */
export function actForAsker({ actor, actFor }: Pick<Context, 'actor' | 'actFor'>): void {
  if (actor.type === 'dash') actFor(platform)
}

/** Whether the operator asks about somebody whom only an account can ask about. */
export const isOthers = (type: SubjectType | undefined, { actor }: Pick<Context, 'actor'>): boolean =>
  actor.type === 'dash' && type !== 'merchant'
