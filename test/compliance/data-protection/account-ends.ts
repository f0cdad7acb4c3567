import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import sharp from 'sharp'
import { filesOnDisk } from '../../../src/adapters/files-on-disk/files-on-disk.ts'
import { sweepFiles } from '../../../src/kernel/background/sweep-files.ts'
import { openDatabase } from '../../../src/platform/database.ts'
import { openVault } from '../../../src/ports/vault.ts'
import { endOverdueOf } from '../../support/compliance/deadlines.ts'
import { sealTrail } from '../../support/compliance/trail.ts'
import { aWallet, bodyOf, creditWallet } from '../../support/factories.ts'
import { ENCRYPTION_KEY } from '../../support/harness.ts'
import { lyingIn, makeOld } from '../../support/stored-files.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'
import { type AnOwner, advance, ask } from './asking.ts'
import { service } from './service.ts'

const deletionOf = async (id: string) => bodyOf(service.dash.gdpr.getDeletion({ params: { id } }))

const accountOf = async ({ ownerId }: AnOwner) =>
  bodyOf(service.dash.customers.get({ params: { id: ownerId } }))

const suspend = ({ ownerId }: AnOwner, status: 'active' | 'suspended') =>
  service.dash.customers.update({ params: { id: ownerId }, body: { status } })

/** Carries out what is due next. */
async function goOn(id: string): Promise<void> {
  await service.sql('update gdpr_deletions set due_at = created_at where id = $1 and due_at is not null', [
    id,
  ])
  await endOverdueOf(service)
}

/**
 * An owner after the seven days: the account is suspended, and checked again five seconds later. The clock is
 * set directly, as the API's advance would carry out everything due by then: on a busy machine the second
 * check, too.
 */
async function anEndingOwner() {
  const owner = await service.owner()
  const { id: walletId } = await bodyOf(owner.client.wallets.create({ body: { name: 'Wallet' } }))
  const { id } = await bodyOf(ask(owner))
  await service.sql(`insert into tenant_clocks values ($1, 'test', $2)`, [owner.ownerId, 7 * 86_400_000])
  await goOn(id)
  expect(await deletionOf(id)).toMatchObject({ status: 'ending' })
  expect(await accountOf(owner)).toMatchObject({ status: 'suspended' })
  return { owner, id, walletId }
}

const credit = ({ ownerId }: AnOwner, walletId: string) =>
  creditWallet(service, { ownerId, mode: 'test', walletId })

describe('an account that ends', () => {
  test('acts again where money has come in between the two looks, and no cent of it is lost', async () => {
    const { owner, id, walletId } = await anEndingOwner()
    await credit(owner, walletId)
    await goOn(id)
    expect(await deletionOf(id)).toMatchObject({
      status: 'waiting',
      waitsFor: [{ type: 'wallet', id: walletId }],
    })
    expect(await accountOf(owner)).toMatchObject({ status: 'active' })
    expect(await bodyOf(owner.client.wallets.get({ params: { id: walletId } }))).toMatchObject({
      availableEuros: 10_000,
    })
  })

  test('stays suspended where the operator has suspended it meanwhile, whatever comes in', async () => {
    const { owner, id, walletId } = await anEndingOwner()
    await bodyOf(suspend(owner, 'suspended'))
    await credit(owner, walletId)
    await goOn(id)
    expect(await deletionOf(id)).toMatchObject({ status: 'waiting' })
    expect(await accountOf(owner)).toMatchObject({ status: 'suspended' })
    await bodyOf(suspend(owner, 'active'))
    expect(await accountOf(owner)).toMatchObject({ status: 'active' })
  })

  test('is suspended once more where the operator lets it act between the two looks', async () => {
    const { owner, id } = await anEndingOwner()
    await bodyOf(suspend(owner, 'active'))
    await goOn(id)
    expect(await deletionOf(id)).toMatchObject({ status: 'ending' })
    expect(await accountOf(owner)).toMatchObject({ status: 'suspended' })
  })

  test('stays suspended once the deletion has begun, independent of who suspended it', async () => {
    const { owner, id } = await anEndingOwner()
    await bodyOf(suspend(owner, 'suspended'))
    await goOn(id)
    expect(await deletionOf(id)).toMatchObject({ status: 'forgetting' })
    await bodyOf(suspend(owner, 'suspended'))
    expect(await suspend(owner, 'active')).toMatchObject({ status: 400, code: 'account_forgotten' })
    await sealTrail(service)
    await goOn(id)
    expect(await deletionOf(id)).toMatchObject({ status: 'completed' })
    expect(await suspend(owner, 'active')).toMatchObject({ status: 400, code: 'account_forgotten' })
  })

  test('while its agents pay waits, and each cent is where the payments have brought it', async () => {
    const owner = await service.owner()
    const { client } = owner
    const [from, to] = [await aWallet(client, 50), await aWallet(client)]
    const { id } = await bodyOf(ask(owner))
    await advance(owner, { days: 7 })
    const pay = () =>
      client.transfers.create({ body: { fromWalletId: from.id, toWalletId: to.id, amountEuros: 10 } })
    const [answers] = await Promise.all([
      Promise.all(Array.from({ length: 8 }, pay)),
      ...Array.from({ length: 4 }, () => goOn(id)),
    ])
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5)
    expect(await deletionOf(id)).toMatchObject({ status: 'waiting' })
    expect(await accountOf(owner)).toMatchObject({ status: 'active' })
    await expectVerifiedLedger(client)
  })
})

/** The sweep, as it runs hours later. */
async function sweepLater(paths: readonly string[]): Promise<void> {
  makeOld(paths)
  const database = openDatabase(service.databaseUrl, 2)
  await sweepFiles(database, filesOnDisk(service.filesDir, openVault(ENCRYPTION_KEY))).finally(() =>
    database.close(),
  )
}

/** Receipts are kept for their payment, which this owner lacks, as an account with money is not forgotten. */
const attachToPayment = ({ ownerId }: AnOwner) =>
  service.sql(`
    begin;
    set local session_replication_role = replica;
    update receipts set status = 'matched', matched_by = 'caller', transaction_id = 'transaction_past'
    where owner_id = '${ownerId}';
    commit`)

describe('a file of an account that was forgotten', () => {
  test('lies on the disk for as long as the law keeps it, and not after', async () => {
    const owner = await service.owner()
    const picture = await sharp({ create: { width: 9, height: 9, channels: 3, background: '#357' } })
      .png()
      .toBuffer()
    await bodyOf(owner.client.receipts.create({ body: { file: picture.toString('base64') } }))
    await attachToPayment(owner)
    const sha256 = createHash('sha256').update(picture).digest('hex')
    const folder = join(service.filesDir, owner.ownerId)
    expect(lyingIn(folder, sha256)).toHaveLength(1)
    const { id } = await bodyOf(ask(owner))
    await advance(owner, { days: 8 })
    await sealTrail(service)
    await goOn(id)
    const { kept } = await deletionOf(id)
    expect(kept).toContainEqual(expect.objectContaining({ ground: 'vouchers' }))
    await sweepLater(lyingIn(folder, sha256))
    expect(lyingIn(folder, sha256)).toHaveLength(1)
    const tenYears = 10 * 366 * 86_400_000
    await service.sql(
      'update tenant_clocks set offset_ms = offset_ms + $2 where owner_id = $1 and mode = $3',
      [owner.ownerId, tenYears, 'test'],
    )
    await sealTrail(service)
    await endOverdueOf(service)
    await sweepLater(lyingIn(folder, sha256))
    expect(lyingIn(folder, sha256)).toEqual([])
  })
})
