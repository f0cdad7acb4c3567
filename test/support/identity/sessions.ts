import { bodyOf } from '../factories.ts'
import type { TestService } from '../harness.ts'
import { redeem, type SignedIn, signedInBy } from './console.ts'
import { assertion, type Enrolled } from './people.ts'

export const signInBy = async (url: string, link: string | null): Promise<SignedIn> =>
  signedInBy(url, await redeem(url, link))

/** The session of an owner with a passkey, started by a link that the owner signed for. */
export async function sessionOf({ url }: Pick<TestService, 'url'>, person: Enrolled): Promise<SignedIn> {
  const { personId } = person
  const { client } = person.owner
  const webauthnAssertion = await assertion(client, person, { purpose: 'invitation', subject: { personId } })
  return signInBy(
    url,
    (await bodyOf(client.console.createLink({ body: { personId, webauthnAssertion } }))).url,
  )
}
