import type { CDPSession, Page } from 'playwright-core'

interface Credential {
  readonly credentialId: string
  readonly signCount: number
}

/** Chromium's virtual passkey device for one page. It verifies its user at once, unless set otherwise. */
export interface VirtualAuthenticator {
  recognize(isUser: boolean): Promise<void>
  /** Lets this device sign with the passkeys of another one, as synced devices do. */
  takeOver(other: VirtualAuthenticator): Promise<void>
  credentials(): Promise<Credential[]>
}

/** Synced devices count separately, so the second one begins above every count of the first. */
const AHEAD = 1_000

export async function addAuthenticator(page: Page): Promise<VirtualAuthenticator> {
  const session: CDPSession = await page.context().newCDPSession(page)
  await session.send('WebAuthn.enable')
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  const credentials = async () =>
    (await session.send('WebAuthn.getCredentials', { authenticatorId })).credentials
  return {
    credentials,
    recognize: isUserVerified =>
      session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }).then(() => undefined),
    async takeOver(other) {
      for (const credential of (await other.credentials()) as Awaited<ReturnType<typeof credentials>>)
        await session.send('WebAuthn.addCredential', {
          authenticatorId,
          credential: { ...credential, signCount: credential.signCount + AHEAD },
        })
    },
  }
}
