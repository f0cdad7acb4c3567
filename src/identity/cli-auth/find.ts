import { createHash } from 'node:crypto'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { selectList } from '../../kernel/database/bulk-sql.ts'
import { hashOf } from '../../kernel/database/credential.ts'
import { type RowOf, tableOf } from '../../kernel/database/hot-table.ts'
import { clock } from '../../values/clock.ts'
import { CliPairing, platform } from './pairing.ts'

export type PairingRow = RowOf<CliPairing>

export const pairingsTable = tableOf(CliPairing)

const FIND = `select ${selectList(pairingsTable, 's')} from cli_pairings s where s.hash = $1`
const LOCK = `${FIND} for update`

const byCode =
  (text: string) =>
  async (sql: Sql, code: string): Promise<PairingRow | undefined> =>
    (await sql<PairingRow & Row>(text, [hashOf(code)]))[0]

/** Finds a pairing by its code; the search goes by the digest, so the time it takes tells nothing about existing codes. */
export const findByCode = byCode(FIND)
export const lockByCode = byCode(LOCK)

const isOf = ({ ownerId, mode }: Tenant, row: Tenant): boolean => row.ownerId === ownerId && row.mode === mode

/** Whether a person of the tenant may see it: one that nobody has decided about, or one of the tenant's own. */
export const isSeenBy = (tenant: Tenant, pairing: PairingRow): boolean =>
  isOf(platform, pairing) || isOf(tenant, pairing)

/** A pairing with the code of a page, as the person who looks may see it. */
export async function findPairing(
  code: string,
  { sql, tenant }: Pick<Context, 'sql' | 'tenant'>,
): Promise<PairingRow | undefined> {
  const pairing = await findByCode(sql, code)
  return pairing && isSeenBy(tenant, pairing) ? pairing : undefined
}

/** Why nobody can decide about a pairing any more; undefined while somebody can. */
export function whyClosed({
  status,
  expiresAt,
}: PairingRow): 'pairing_decided' | 'pairing_expired' | undefined {
  if (status !== 'pending') return 'pairing_decided'
  return expiresAt > clock.real() ? undefined : 'pairing_expired'
}

/** The challenge that belongs to a verifier: S256 of RFC 7636. */
export const codeChallengeOf = (verifier: string): string =>
  createHash('sha256').update(verifier).digest('base64url')
