import { describe, expect, test } from '@jest/globals'
import { bodyOf } from '../../support/factories.ts'
import { axeFindings } from '../../support/web/axe.ts'
import { useBrowser } from '../../support/web/browser.ts'
import { faintTexts } from '../../support/web/contrast.js'
import { qrCodeIn } from '../../support/web/qr-code.ts'
import { aRequest, client, pay, requests, service, wallet } from './payer-service.ts'

const visit = useBrowser()

const phone = { viewport: { width: 360, height: 740 } }
const desktop = { viewport: { width: 1280, height: 800 } }
const looks = [
  ['a phone in light', { ...phone, colorScheme: 'light', locale: 'en-GB' }],
  ['a phone in dark', { ...phone, colorScheme: 'dark', locale: 'de-DE' }],
  ['a desktop in light', { ...desktop, colorScheme: 'light', locale: 'de-DE' }],
  ['a desktop in dark', { ...desktop, colorScheme: 'dark', locale: 'en-GB' }],
] as const

const addressOf = ({ id }: { id: string }): string => `${service.url}/pay/${id}`

const unknown = `${service.url}/pay/request_01jd8x2m4ye7k9v0c3q5r6t8wz`

describe.each(looks)('on %s', (_, look) => {
  test('the page is readable and accessible, and loads only what is ours, in every state', async () => {
    // One of these already covers every colour and element of the other appearances.
    const { open, cancelled } = requests
    const some = look.locale === 'de-DE' ? [open] : [open, cancelled]
    const shown = look === looks[0][1] ? Object.values(requests) : some
    const addresses = [...shown.map(addressOf), unknown]
    for (const address of addresses) {
      const { page, complaints, requests: loaded } = await visit(address, look)
      expect(await axeFindings(page)).toEqual([])
      expect(await page.evaluate(faintTexts)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(look.viewport.width)
      expect(await page.locator('html').getAttribute('lang')).toBe(look.locale.slice(0, 2))
      expect(complaints.filter(complaint => !complaint.includes('404 (Not Found)'))).toEqual([])
      expect(loaded.length).toBeGreaterThan(1)
      expect(loaded.filter(url => !url.startsWith(`${service.url}/pay/`))).toEqual([])
    }
  })

  test('the QR code and the page have the same fields', async () => {
    const { open } = requests
    const { page } = await visit(addressOf(open), { ...look, javaScriptEnabled: false })
    const { page: blank } = await visit('about:blank')
    const code = await qrCodeIn(await page.locator('figure').screenshot(), blank)
    const shown = await page.locator('dd').allInnerTexts()
    const [holder, iban, bic, amount, reference] = shown.map(text => text.split('\n')[0]?.trim())
    expect(code?.split('\n')).toEqual([
      'BCD',
      '002',
      '1',
      'SCT',
      wallet.bic,
      'Zahlungsstelle für Agenten & Söhne',
      wallet.iban,
      'EUR12.50',
      '',
      open.reference,
    ])
    expect(Buffer.byteLength(code ?? '')).toBeLessThanOrEqual(331)
    expect([holder, bic]).toEqual(['Zahlungsstelle für Agenten & Söhne', wallet.bic])
    expect([iban, reference].map(text => text?.replaceAll(' ', ''))).toEqual([wallet.iban, open.reference])
    expect(amount?.replace(/\s/g, ' ')).toBe(look.locale === 'de-DE' ? '12,50 €' : '€ 12.50')
  })
})

test('long names and descriptions, and those that are markup, break nothing', async () => {
  await bodyOf(client.customers.updateMe({ body: { name: `${'Donaudampfschiffahrt'.repeat(9)} GmbH & Co` } }))
  const hostile = await aRequest({ description: `<img src=x onerror=alert(1)>\u202e"'&${'w'.repeat(150)}` })
  const { page, complaints } = await visit(addressOf(hostile), { ...phone, colorScheme: 'light' })
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
  expect(await page.locator('.purpose').innerText()).toContain('<img src=x onerror=alert(1)>')
  expect(await page.locator('img').count()).toBe(1)
  expect(await axeFindings(page)).toEqual([])
  expect(complaints).toEqual([])
})

test('after a partial payment, page and QR code show the rest', async () => {
  const { page, complaints } = await visit(addressOf(requests.partly), {
    ...desktop,
    locale: 'en-GB',
  })
  expect(await page.locator('.meaning').innerText()).toBe(
    '€\u00a05.00 have arrived. €\u00a07.50 are still due.',
  )
  const { page: blank } = await visit('about:blank')
  const code = await qrCodeIn(await page.locator('figure').screenshot(), blank)
  expect(code?.split('\n')[7]).toBe('EUR7.50')
  expect(complaints).toEqual([])
  const asked = await aRequest()
  await pay(asked, 12.49)
  const { page: almost } = await visit(addressOf(asked), { ...phone, locale: 'de-DE' })
  expect((await almost.locator('.meaning').innerText()).replace(/\s/g, ' ')).toContain(
    '0,01 € sind noch offen',
  )
})
