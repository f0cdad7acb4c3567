import { z } from 'zod'
import type { Mode, TenantNow } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { isCreditorReference, makeCreditorReference } from '../../values/creditor-reference.ts'

export const payableTypes = ['request', 'payment_token', 'payment'] as const
export type PayableType = (typeof payableTypes)[number]

export interface PayableReference {
  readonly type: PayableType
  readonly id: string
}

export const payableReferenceMembers = {
  payableType: z.enum(payableTypes).nullable().meta({
    description:
      'The purpose of the money, if known. `request`: a payment request. `payment_token`: a charge. `payment`: a refund of the payment with this ID.',
  }),
  payableId: z
    .string()
    .max(140)
    .nullable()
    .meta({ examples: ['request_01jd8x2m4ye7k9v0c3q5r6t8wz'] }),
}

export const payableColumns = (payable: PayableReference | null) => ({
  payableType: payable?.type ?? null,
  payableId: payable?.id ?? null,
})

export const payableFromColumns = ({
  payableType,
  payableId,
}: {
  readonly payableType: PayableType | null
  readonly payableId: string | null
}): PayableReference | null => (payableType && payableId ? { type: payableType, id: payableId } : null)

/** A fixed length, so that references can be found inside a longer text. */
const LENGTH = 10

export const creditorReferenceFor = (number: bigint): string =>
  makeCreditorReference(String(number).padStart(LENGTH, '0'))

const MENTION = new RegExp(`(?<![A-Z0-9])RF(?:[\\s./-]*\\d){${2 + LENGTH}}(?!\\d)`, 'gi')

export function referenceNumbersIn(text: string): bigint[] {
  const references = [...text.matchAll(MENTION)].map(([mention]) =>
    mention.replace(/[\s./-]/g, '').toUpperCase(),
  )
  return [...new Set(references.filter(isCreditorReference))].map(reference => BigInt(reference.slice(4)))
}

interface NewReference {
  readonly walletId: string
  readonly payable: PayableReference
}

const REGISTER = `
insert into payment_references (owner_id, mode, created_at, wallet_id, payable_type, payable_id)
values ($1, $2, $3, $4, $5, $6) returning number`

/**
 * Registers a reference for a payable of the tenant's wallet, in the form of ISO 11649 without spaces. A
 * payable has one reference; the wallet's own number is registered when the wallet opens.
 */
export async function registerReference(
  { sql, tenant, now }: TenantNow & { readonly sql: Sql },
  { walletId, payable }: NewReference,
): Promise<string> {
  const values = [tenant.ownerId, tenant.mode, now, walletId, payable.type, payable.id]
  const [row] = await sql<{ number: bigint }>(REGISTER, values)
  if (!row) throw new Error('the register gave no number')
  return creditorReferenceFor(row.number)
}

export interface ResolvedReference {
  readonly number: bigint
  readonly ownerId: string
  readonly walletId: string
  readonly isClosed: boolean
  readonly payable: PayableReference | null
}

interface NamedRow extends Row, Omit<ResolvedReference, 'payable'> {
  readonly payableType: PayableType | null
  readonly payableId: string | null
}

/** Looks up each number, and its wallet, in an index, however large the tables are. */
const NAMED = `
select r.number, r.owner_id as "ownerId", r.wallet_id as "walletId", w.status = 'closed' as "isClosed",
  r.payable_type as "payableType", r.payable_id as "payableId"
from unnest($3::bigint[]) as a (number)
cross join lateral (
  select * from payment_references p
  where p.number = a.number and p.mode = $1 and ($2::text is null or p.owner_id = $2) limit 1) as r
cross join lateral (
  select status from wallets where (owner_id, mode, id) = (r.owner_id, r.mode, r.wallet_id) limit 1) as w`

export async function resolveReferences(
  sql: Sql,
  { mode, ownerId = null }: { readonly mode: Mode; readonly ownerId?: string | null },
  numbers: readonly bigint[],
): Promise<ResolvedReference[]> {
  if (numbers.length === 0) return []
  const distinct = [...new Set(numbers)].map(String)
  const rows = await sql<NamedRow>(NAMED, [mode, ownerId, distinct])
  return rows.map(({ number, ownerId, walletId, isClosed, ...payable }) => ({
    ...{ number, ownerId, walletId, isClosed },
    payable: payableFromColumns(payable),
  }))
}
