import { bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { setIdentities, submitted } from '../../support/identity/company.ts'

/** The service of all onboarding tests. */
export const service = await startTestService({ own: true })

/** The events about the onboardings of an owner, oldest first. */
export const tellingOf = async (client: TestClient) =>
  (await bodyOf(client.events.list({ query: { limit: 100 } }))).data
    .filter(({ event }) => event.startsWith('onboarding.'))
    .map(({ event, data }) => [event, data] as const)
    .reverse()

export const namesTold = async (client: TestClient) =>
  (await tellingOf(client)).map(([event]) => event.replace('onboarding.', ''))

/** A company of a new owner, in review, with all people verified. */
export async function inReview(members: Parameters<typeof submitted>[1] = {}) {
  const owner = await service.owner()
  const { id } = await submitted(owner.client, members)
  const params = { id }
  await setIdentities(service, params, 'verified')
  await bodyOf(owner.client.sandbox.advance({ body: { minutes: 1 } }))
  return { ...owner, params }
}
