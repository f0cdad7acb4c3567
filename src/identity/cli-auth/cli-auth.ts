import { createHash } from 'node:crypto'
import { area } from '../../kernel/contract/area.ts'
import { bindHandlers, type HandlerOf } from '../../kernel/contract/operation.ts'
import { updateOf } from '../../kernel/database/bulk-sql.ts'
import { clock } from '../../values/clock.ts'
import { newUserCode } from '../../values/user-code.ts'
import { openPasskeyChallenge } from '../passkeys/index.ts'
import {
  actForTenantOf,
  approve,
  beginRequest,
  decide,
  fetchKey,
  lockByCode,
  type PairingRow,
  pairingKind,
  pairingMachine,
  sessionsTable,
} from '../sessions/index.ts'
import { cliAuthApi, decidedEvent, pairingEvent } from './api.ts'
import { grantTo } from './pairing.ts'

const { pollIntervalS, codeTtlMs } = pairingKind

const start: HandlerOf<typeof cliAuthApi.start> = async ({ body }, context) => {
  const pairingCode = newUserCode()
  const begun = await beginRequest(pairingKind, { ...body, clientType: 'cli', pairingCode }, context)
  if (!begun) return context.refuse('too_many_waiting')
  context.emit('cli.requested', pairingEvent(begun.request))
  const url = context.service.pageUrl(`/cli/${begun.code}`)
  return { code: begun.code, pairingCode, url, expiresIn: codeTtlMs / 1_000, interval: pollIntervalS }
}

const pairingRecord = (pairing: PairingRow) => ({ ...pairing, expiresAt: pairing.endsAt })

const challenge: HandlerOf<typeof cliAuthApi.challenge> = async ({ body }, context) => {
  const grant = await grantTo(body.code, context)
  if ('refused' in grant) return context.refuse(grant.refused)
  return openPasskeyChallenge({ ...grant.statement, subjectId: grant.request.id }, context)
}

const approvePairing: HandlerOf<typeof cliAuthApi.approve> = async ({ body }, context) => {
  const lockGrant = () => grantTo(body.code, context)
  const approved = await approve(pairingKind, body.webauthnAssertion, lockGrant, context)
  if ('refused' in approved) return context.refuse(approved.refused)
  context.emit('cli.approved', decidedEvent(approved))
  return pairingRecord(approved)
}

const denyPairing: HandlerOf<typeof cliAuthApi.deny> = async ({ body }, context) => {
  const grant = await grantTo(body.code, context)
  if ('refused' in grant) return context.refuse(grant.refused)
  const denied = await decide(pairingKind, grant.request, 'denied', null, context)
  context.emit('cli.denied', decidedEvent(denied))
  return pairingRecord(denied)
}

const codeChallengeOf = (verifier: string): string =>
  createHash('sha256').update(verifier).digest('base64url')

const writeVoid = updateOf(sessionsTable, ['status', 'endedAt', 'updatedAt'])

const token: HandlerOf<typeof cliAuthApi.token> = async ({ body }, context) => {
  const { sql, emit, refuse } = context
  const pairing = await lockByCode<PairingRow>(pairingKind, body.code, sql)
  if (!pairing) return refuse('invalid_grant')
  if (codeChallengeOf(body.codeVerifier) !== pairing.codeChallenge) {
    if (!pairingMachine.move(pairing, 'void')) return refuse('invalid_grant')
    await actForTenantOf(pairing, context)
    const now = clock.real()
    await writeVoid(sql, pairing, [{ ...pairing, endedAt: now, updatedAt: now }])
    emit('cli.failed', { ...pairingEvent(pairing), personId: pairing.personId })
    return refuse('invalid_grant')
  }
  const key = await fetchKey(pairingKind, pairing, context)
  if (typeof key === 'string') return refuse(key)
  emit('cli.paired', { ...decidedEvent(pairing), keyId: key.id })
  return key
}

export const cliAuthArea = area(
  'CLI Auth',
  'How a command line gets a key: a person compares a code in the browser and approves with a passkey.',
  bindHandlers(cliAuthApi, { start, token, challenge, approve: approvePairing, deny: denyPairing }),
  { machines: [pairingMachine] },
)
