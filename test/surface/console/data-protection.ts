import { describe, expect, test } from '@jest/globals'
import { bodyOf } from '../../support/factories.ts'
import { openAsOwner } from '../console-pages/devices.ts'
import { aVisitor, service } from './visitors.ts'

describe('the pages of data protection', () => {
  test('let an owner sign an erasure of a person, see what must end first, and withdraw it', async () => {
    const { client } = await service.owner()
    const { page, complaints } = await openAsOwner(client)
    const { data } = await bodyOf(client.people.list({}))
    await page.goto(new URL('console/deletions', page.url()).href)
    await page.locator('button[commandfor]', { hasText: 'Erase a person’s data' }).click()
    await page.getByLabel('Type').selectOption('person')
    await page.getByLabel('ID of the person').fill(String(data[0]?.id))
    await page.getByRole('dialog').getByRole('button', { name: 'Erase a person’s data' }).click()
    await page.getByRole('dialog').getByText('forget').first().waitFor()
    await page.getByRole('button', { name: 'Sign with passkey' }).click()
    await page.waitForURL('**/console/deletions/gdprdeletion_*')
    await page.locator('h1').getByText('requested').waitFor()
    await page.getByRole('button', { name: 'Withdraw request' }).click()
    await page.locator('h1').getByText('cancelled').waitFor()
    await page.getByRole('button', { name: 'Withdraw request' }).waitFor({ state: 'detached' })
    expect(complaints.filter(text => !text.includes('400'))).toEqual([])
  })

  test('name what a deletion waits for, with remedies, and let only owners request or download', async () => {
    const { owner, read } = await aVisitor()
    const { client } = owner
    const { id } = await bodyOf(client.gdpr.createDeletion({ body: {} }))
    const waiting = JSON.stringify([{ type: 'wallet', id: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz' }])
    await service.sql(`update gdpr_deletions set status = 'waiting', waits_for = $2 where id = $1`, [
      id,
      waiting,
    ])
    const { text } = await read(`console/deletions/${id}`)
    expect(text).toContain('Pay it out with POST /transfers')
    expect(text).toContain('Withdraw request')
    const archive = await bodyOf(client.gdpr.createExport({ body: {} }))
    await service.sql(
      `update gdpr_exports set status = 'ready', records = 9, ready_at = now(), expires_at = now() + interval '7 days'
       where id = $1`,
      [archive.id],
    )
    expect((await read('console/exports')).text).toMatch(/gdpr\/exports\/gdprexport_\w+\/archive" download/)
    const viewer = await aVisitor('viewer', owner)
    for (const list of ['deletions', 'exports'])
      expect((await read(`console/${list}`)).text).toMatch(/data-name="Due"[^>]*><div><time /)
    for (const path of [`deletions/${id}`, 'deletions', 'exports']) {
      const seen = await viewer.read(`console/${path}`)
      expect([path, seen.status]).toEqual([path, 200])
      expect(seen.text).not.toMatch(/data-operation=|\/archive"/)
    }
  })

  test('let an owner give consent and take it back, and keep every change', async () => {
    const { client } = await service.owner()
    const { page, complaints } = await openAsOwner(client)
    await page.goto(new URL('console/deletions', page.url()).href)
    await page.getByRole('link', { name: 'Consent' }).first().click()
    await page.locator('button[commandfor]', { hasText: 'Record consent' }).first().click()
    await page.getByLabel('Purpose, such as').fill('Usage')
    await page.getByLabel('Version of the wording').fill('2026-11')
    await page.getByRole('dialog').getByRole('button', { name: 'Record consent' }).click()
    await page.locator('form .refusal', { hasText: 'a purpose has small letters' }).waitFor()
    await page.getByLabel('Purpose, such as').fill('usage_analytics')
    await page.getByRole('dialog').getByRole('button', { name: 'Record consent' }).click()
    await page.getByRole('button', { name: 'Withdraw', exact: true }).click()
    await page.getByRole('button', { name: 'Give consent' }).waitFor()
    await page.locator('#list tbody tr').nth(1).waitFor()
    expect(await bodyOf(client.gdpr.getConsent({}))).toMatchObject({
      consents: [
        { purpose: 'usage_analytics', granted: false, wordingVersion: '2026-11', by: { type: 'console' } },
      ],
    })
    expect((await bodyOf(client.gdpr.listConsents({}))).data.map(({ granted }) => granted)).toEqual([
      false,
      true,
    ])
    expect(complaints.filter(text => !text.includes('400'))).toEqual([])
  })
})
