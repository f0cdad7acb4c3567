import { expect } from '@jest/globals'
import type { areas } from '../../../src/areas.ts'
import { sealTrail } from '../../support/compliance/trail.ts'
import { aBeneficiary, bodyOf } from '../../support/factories.ts'
import type { Owner } from '../../support/harness.ts'
import { service } from './service.ts'

export type AnOwner = Owner<typeof areas>
export interface Subject {
  readonly type: 'person' | 'beneficiary' | 'payer'
  readonly id: string
}

export const MARK = 'Mark Erased'

/** Advances the owner's clock, which carries out what is due without a worker. */
export const advance = async ({ key }: Pick<AnOwner, 'key'>, body: object) =>
  expect((await service.http('POST', '/simulate/clock/advance', { token: key, body })).status).toBe(200)

/** Advances the owner's clock to an instant that may be years ahead. */
export async function advanceUntil(owner: AnOwner, instant: number): Promise<void> {
  for (;;) {
    const { now } = await bodyOf(owner.client.sandbox.clock())
    const seconds = Math.ceil((instant - Date.parse(now)) / 1_000)
    if (seconds <= 0) return
    await advance(owner, { seconds: Math.min(seconds, 365 * 86_400) })
  }
}

export const ask = ({ client }: Pick<AnOwner, 'client'>, subject?: Subject) =>
  client.gdpr.createDeletion({ body: subject ? { subject } : {} })

export const read = ({ client }: Pick<AnOwner, 'client'>, id: string) =>
  bodyOf(client.gdpr.getDeletion({ params: { id } }))

/** A deleted payee who was never paid, so that no obstacle prevents the erasure. */
export async function aDeletedPayee({ client }: AnOwner) {
  const { id } = await aBeneficiary(client, { name: MARK, email: 'mark@example.com' })
  await client.beneficiaries.delete({ params: { id } })
  await sealTrail(service)
  return { type: 'beneficiary', id } as const
}

/** Every text of the owner's rows in these tables. */
export async function textsOf({ ownerId }: AnOwner, ...tables: string[]): Promise<string> {
  const found = await Promise.all(
    tables.map(table => service.sql(`select t::text as row from ${table} t where owner_id = $1`, [ownerId])),
  )
  return JSON.stringify(found)
}
