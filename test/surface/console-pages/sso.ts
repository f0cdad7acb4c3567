import { afterAll, expect, test } from '@jest/globals'
import { bodyOf } from '../../support/factories.ts'
import { CLIENT_ID, CLIENT_SECRET, OpenidProvider } from '../../support/identity/openid-provider.ts'
import { open, troubleIn } from './devices.ts'
import { origin, service } from './pages-service.ts'

const provider = await OpenidProvider.start()
afterAll(() => provider.stop())

async function anInvitation() {
  const { client } = await service.owner()
  const secrets = { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET }
  const body = { name: 'Example Corp', issuer: provider.issuer, ...secrets }
  const { id } = await bodyOf(client.sso.create({ body }))
  const person = { name: 'Grace Hopper', email: 'grace@example.com', role: 'owner' as const }
  await bodyOf(client.people.create({ body: person }))
  provider.person = { sub: 'grace', email: person.email, email_verified: true }
  return `${origin}/login?sso=${id}`
}

test('a person joins with the identity provider, creates a passkey, and signs in with it again', async () => {
  const { page, complaints } = await open(await anInvitation())
  await page.getByRole('button', { name: 'Sign in with Example Corp' }).click()
  await page.waitForURL('**/join')
  expect(page.url()).not.toContain('code')
  await page.getByRole('button', { name: 'Create passkey' }).click()
  await page.waitForURL('**/console')
  expect(complaints).toEqual([])
  // The console would go to the sign-in page by itself, in a race with the page that is opened next.
  await page.goto('about:blank')
  await page.context().clearCookies()
  await page.goto(`${origin}/approve`)
  // The browser knows its provider, and the page that the person wanted is not lost on the way.
  await page.getByRole('button', { name: 'Sign in with Example Corp' }).click()
  await page.waitForURL(`${origin}/approve`)
})

test('a person whom the provider refuses, and an answer in another browser, are not signed in', async () => {
  const link = await anInvitation()
  const { person } = provider
  provider.person = undefined
  const { page } = await open(link)
  await page.getByRole('button', { name: 'Sign in with Example Corp' }).click()
  await page.getByRole('heading', { name: 'You are not signed in' }).waitFor()
  await page.getByRole('link', { name: 'Back to sign-in' }).click()
  await page.waitForURL('**/login*')
  provider.person = person
  const other = await open(
    `${page.url().split('/login')[0]}/sso/${new URL(link).searchParams.get('sso')}/callback?state=x&code=y`,
  )
  await troubleIn(other.page).filter({ hasText: 'it began in another browser' }).waitFor()
  expect(new URL(other.page.url()).search).toBe('')
})
