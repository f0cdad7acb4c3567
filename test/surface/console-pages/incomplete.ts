import { expect, test } from '@jest/globals'
import { openAsOwner, troubleIn, visit } from './devices.ts'
import { origin, service } from './pages-service.ts'

test('a page of which a script does not arrive says so, in the language of its reader', async () => {
  const { page } = await visit('about:blank', { locale: 'de-DE' })
  await page.route(/assets\/page-\w+\.js/, route => route.abort())
  await page.goto(`${origin}/login`)
  await troubleIn(page).filter({ hasText: 'Die Seite wurde nicht vollständig geladen' }).waitFor()
  expect(await page.locator('[data-step]:visible').count()).toBe(0)
})

test('what is pressed before the scripts of a page listen is done once they do', async () => {
  const { client } = await service.owner()
  const { page } = await openAsOwner(client)
  let release: () => void = () => undefined
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  await page.route(/assets\/page-\w+\.js/, async route => {
    await released
    await route.continue()
  })
  await page.goto(`${origin}/device`, { waitUntil: 'commit' })
  await page.locator('#content').waitFor()
  await page.evaluate('document.querySelector("[data-step=code]").hidden = false')
  await page.locator('#user-code').fill('BCDF-GHJK')
  await page.locator('form[data-action="look"] button').click()
  release()
  await troubleIn(page).filter({ hasText: 'No device is waiting with this code.' }).waitFor()
  expect([page.url(), await page.locator('#user-code').inputValue()]).toEqual([
    `${origin}/device`,
    'BCDF-GHJK',
  ])
})
