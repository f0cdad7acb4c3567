import type { Actor } from '../../kernel/contract/actor.ts'
import type { ReadContext, SqlContext } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { allScopeNames, type Scope } from '../../kernel/contract/scopes.ts'
import { updateOf } from '../../record-store/index.ts'
import { addMs, clock } from '../../values/clock.ts'
import { consumeAssertion, openPasskeyChallenge, verifyAssertion } from '../passkeys/index.ts'
import { type cliAuthApi, pairingEvent } from './api.ts'
import {
  findPairing,
  isPairingVisible,
  lockPairingByCode,
  PAIRING_KEY_FETCH_TTL_MS,
  type PairingRow,
  pairingClosedReason,
  pairingMachine,
  pairingsTable,
} from './pairing.ts'

/** The person's scopes. Null for an owner, who has every scope, including future ones. */
const grantedBy = ({ scopes: held }: Actor): Scope[] | null =>
  allScopeNames.every(scope => held.has(scope)) ? null : allScopeNames.filter(scope => held.has(scope))

const statementOf = ({ deviceName, pairingCode, toolWrites }: PairingRow, actor: Actor) => ({
  deviceName,
  pairingCode,
  scopes: grantedBy(actor),
  ...(toolWrites ? { toolWrites: true as const } : {}),
})

export const createPairingChallenge: HandlerOf<typeof cliAuthApi.challenge> = async ({ body }, context) => {
  const { actor, refuse } = context
  const pairing = await findPairing(body.code, context)
  if (!pairing) return refuse('pairing_not_found')
  const closed = pairingClosedReason(pairing)
  if (closed) return refuse(closed)
  return openPasskeyChallenge(
    { kind: 'pairing', subjectId: pairing.id, members: statementOf(pairing, actor) },
    context,
  )
}

async function lockUndecided(code: string, { sql, tenant }: SqlContext) {
  const pairing = await lockPairingByCode(sql, code)
  if (!pairing || !isPairingVisible(tenant, pairing)) return 'pairing_not_found'
  return pairingClosedReason(pairing) ?? pairing
}

/** Moves the row from the platform to the deciding tenant, which then owns it for good. */
const writeDecision = updateOf(pairingsTable, [
  'ownerId',
  'mode',
  'status',
  'personId',
  'sessionId',
  'decidedAt',
  'expiresAt',
  'scopes',
  'updatedAt',
])

async function decide(
  pairing: PairingRow,
  to: 'approved' | 'denied',
  { sql, tenant, actor }: ReadContext,
): Promise<PairingRow> {
  const before = { ownerId: pairing.ownerId, mode: pairing.mode }
  const now = clock.real()
  const least = addMs(now, PAIRING_KEY_FETCH_TTL_MS)
  pairingMachine.move(pairing, to)
  Object.assign(pairing, {
    ...tenant,
    personId: actor.id,
    sessionId: String(actor.sessionId),
    decidedAt: now,
    expiresAt: pairing.expiresAt > least ? pairing.expiresAt : least,
    scopes: to === 'approved' ? grantedBy(actor) : null,
    updatedAt: now,
  })
  await writeDecision(sql, before, [pairing])
  return pairing
}

const decidedEvent = (pairing: PairingRow, { actor }: ReadContext) => ({
  ...pairingEvent(pairing),
  personId: String(actor.id),
})

export const approvePairing: HandlerOf<typeof cliAuthApi.approve> = async ({ body }, context) => {
  const { actor, refuse } = context
  const consent = await verifyAssertion(body.webauthnAssertion, context)
  if (typeof consent === 'string') return refuse(consent)
  const pairing = await lockUndecided(body.code, context)
  if (typeof pairing === 'string') return refuse(pairing)
  const expected = { kind: 'pairing', members: statementOf(pairing, actor) } as const
  const code = await consumeAssertion(consent, expected, context)
  if (code) return refuse(code)
  const approved = await decide(pairing, 'approved', context)
  context.emit('cli.approved', decidedEvent(approved, context))
  return approved
}

export const denyPairing: HandlerOf<typeof cliAuthApi.deny> = async ({ body }, context) => {
  const pairing = await lockUndecided(body.code, context)
  if (typeof pairing === 'string') return context.refuse(pairing)
  const denied = await decide(pairing, 'denied', context)
  context.emit('cli.denied', decidedEvent(denied, context))
  return denied
}
