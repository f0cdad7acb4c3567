import type { Actor, Tenant } from '../../kernel/contract/actor.ts'
import type { ReadContext, SqlContext } from '../../kernel/contract/context.ts'
import { allScopeNames, type Scope } from '../../kernel/contract/scopes.ts'
import { clock } from '../../values/clock.ts'
import {
  findByCode,
  type Grant,
  livePlatformTenant,
  lockByCode,
  type PairingRow,
  pairingKind,
} from '../sessions/index.ts'

const isOf = ({ ownerId, mode }: Tenant, row: Tenant): boolean => row.ownerId === ownerId && row.mode === mode

/** Undecided pairings are visible to all; decided ones only to the tenant that decided. */
const visibleTo = (tenant: Tenant, pairing: PairingRow | undefined): PairingRow | undefined =>
  pairing && (isOf(livePlatformTenant, pairing) || isOf(tenant, pairing)) ? pairing : undefined

export const findPairing = async (code: string, { sql, tenant }: SqlContext) =>
  visibleTo(tenant, await findByCode<PairingRow>(pairingKind, code, sql))

export function pairingClosedReason({
  status,
  endsAt,
}: PairingRow): 'pairing_decided' | 'pairing_expired' | undefined {
  if (status !== 'pending') return 'pairing_decided'
  return endsAt > clock.real() ? undefined : 'pairing_expired'
}

/** The person's scopes. Null for an owner, who has every scope, including future ones. */
const grantedBy = ({ scopes: held }: Actor): Scope[] | null =>
  allScopeNames.every(scope => held.has(scope)) ? null : allScopeNames.filter(scope => held.has(scope))

interface NotWaiting {
  readonly refused: 'pairing_not_found' | 'pairing_decided' | 'pairing_expired'
}

/** What the person grants to the terminal that waits with this code. The row stays locked. */
export async function grantTo(
  code: string,
  { sql, tenant, actor }: ReadContext,
): Promise<Grant<PairingRow> | NotWaiting> {
  const request = visibleTo(tenant, await lockByCode<PairingRow>(pairingKind, code, sql))
  if (!request) return { refused: 'pairing_not_found' }
  const refused = pairingClosedReason(request)
  if (refused) return { refused }
  const { deviceName, pairingCode, toolWrites } = request
  const scopes = grantedBy(actor)
  const members = { deviceName, pairingCode, scopes, ...(toolWrites ? { toolWrites } : {}) }
  return { request, scopes, statement: { kind: 'pairing', members } }
}
