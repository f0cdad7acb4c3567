import { type BegunTokenPayment, obstaclesToBegun } from '../../../cards/authorizations/index.ts'
import { actorsWithScope } from '../../../control/agent-tokens/index.ts'
import { findIntentsById, machinePaymentTermsOfIntents } from '../../../control/intents/index.ts'
import type { Actor, TenantNow } from '../../../kernel/contract/actor.ts'
import type { SqlContext } from '../../../kernel/contract/context.ts'
import type { EntityManager } from '../../../kernel/contract/entity-manager.ts'
import type { Sql } from '../../../kernel/contract/sql.ts'
import type { ChargeMethod } from '../../../mpp/index.ts'
import { addMs } from '../../../values/clock.ts'
import { merchantOfferRefusals, mintRefusals } from '../api.ts'
import type { MppCredential } from '../credential.ts'
import { canonicalHost } from '../hosts.ts'
import type { MachinePaymentProblem } from '../offers.ts'
import { actorOf, type MachinePayment } from '../payment.ts'
import { protectRulesForIntents } from '../protect.ts'
import { payableHostProblem } from './ask.ts'

/** What was decided no longer ago is not decided again before it is sent. */
const FRESH_MS = 5_000

/** Time has passed since it was decided, or a person has taken theirs to confirm it. */
export const isToBeDecidedAgain = (
  { createdAt, sharedToken }: MppCredential,
  { now }: Pick<TenantNow, 'now'>,
): boolean => sharedToken?.unconfirmed !== undefined || addMs(createdAt, FRESH_MS) <= now

interface Unsent {
  readonly credential: MppCredential
  readonly payment: MachinePayment
  readonly authorizationId: string
}

interface LookContext extends TenantNow {
  readonly em: EntityManager
  readonly sql: Sql
}

/** Why credentials that have not left must not be sent any more, by their ids. Locks nothing. */
export async function findObstacles(
  unsent: readonly Unsent[],
  context: LookContext,
): Promise<ReadonlyMap<string, MachinePaymentProblem>> {
  if (unsent.length === 0) return new Map()
  const { em, sql, tenant } = context
  const intentIds = unsent.map(({ credential }) => credential.intentId)
  const [allowed, intents, rules, terms, obstacles] = await Promise.all([
    findAllowedAskers(
      unsent.map(({ payment }) => actorOf(payment, tenant)),
      context,
    ),
    findIntentsById(em, intentIds),
    protectRulesForIntents(intentIds, { em, tenant }),
    machinePaymentTermsOfIntents(intentIds, { sql, tenant }),
    obstaclesToBegun(unsent.map(begunPayment), context),
  ])
  const obstacleTo = ({ credential, payment }: Unsent): MachinePaymentProblem | undefined => {
    const { id, agentId, intentId, sharedToken } = credential
    if (!mayStillAsk(payment, allowed)) return ASKER_NOT_ALLOWED
    const merchant = intents.get(intentId)?.merchant ?? ''
    const host = payableHostProblem(new URL(payment.url), { agentId, merchant }, rules)
    if (host) return host
    const excluded = methodProblem(sharedToken ? 'stripe' : 'card', terms.get(intentId)?.methods)
    if (excluded) return excluded
    const obstacle = obstacles.get(id)
    return obstacle && blocked(obstacle.blocker, obstacle.message)
  }
  return new Map(
    unsent.flatMap(one => {
      const obstacle = obstacleTo(one)
      return obstacle ? [[one.credential.id, obstacle] as const] : []
    }),
  )
}

function begunPayment({ credential, payment, authorizationId }: Unsent): BegunTokenPayment {
  const { id: mppCredentialId, agentId, intentId, cardId, amountCents, conversion } = credential
  const { url } = payment
  const members = {
    agentId,
    intentId,
    cardId,
    amountCents,
    conversion,
    url,
    host: canonicalHost(new URL(url)),
  }
  return { mppCredentialId, authorizationId, ...members }
}

/** The ids of those askers who still may pay. */
export const findAllowedAskers = (
  askers: readonly Actor[],
  { sql, tenant }: SqlContext,
): Promise<ReadonlySet<string>> => actorsWithScope('mpp:pay', askers, { sql, tenant })

export const mayStillAsk = ({ askedBy }: MachinePayment, allowed: ReadonlySet<string>): boolean =>
  allowed.has(String(askedBy.id))

const refusals = { ...mintRefusals, ...merchantOfferRefusals }

export const blocked = (
  code: keyof typeof refusals,
  message: string = refusals[code][1],
): MachinePaymentProblem => ({ code, message })

export const ASKER_NOT_ALLOWED = blocked('asker_not_allowed')

/** The policy may have changed since the method was chosen. It allows all if it names none. */
export const methodProblem = (
  method: ChargeMethod,
  allowed: readonly ChargeMethod[] = [],
): MachinePaymentProblem | undefined =>
  allowed.length === 0 || allowed.includes(method)
    ? undefined
    : blocked(
        'payment_denied',
        `The policy of the agent does not allow the method ${method} any more (mppMethods).`,
      )
