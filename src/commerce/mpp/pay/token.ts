import {
  credentialDigest,
  credentialHeaderOf,
  type MerchantKey,
  writeCredential,
} from '../../../mpp/index.ts'
import { type IssuedNetworkToken, isFailure } from '../../../ports/card-processor.ts'
import { after, days } from '../../../values/clock.ts'
import { encryptionKeyOf } from '../../../values/encryption-key.ts'
import { plainHost } from '../hosts.ts'
import type { CardOffer } from '../offers.ts'
import { mintRefusals } from '../refusals.ts'
import type { Outside } from './outside.ts'
import type { PayProblem, PaySubject } from './reservation.ts'

/** A merchant may collect by its token for a day: what it asks for later is declined. */
const TOKEN_MS = days(1)

interface MintRequest {
  readonly offer: CardOffer
  readonly key: MerchantKey
  readonly subject: PaySubject
  readonly url: URL
}

/** A credential with the traces that are kept of it. */
export interface MintedToken {
  readonly issued: Pick<IssuedNetworkToken, 'tokenId' | 'last4' | 'network'>
  readonly expiresAt: Date
  readonly keyThumbprint: string
  /** The header that carries it, in small letters. */
  readonly header: string
  /** The value of the header: a secret. */
  readonly credential: string
  readonly digest: string
}

const PROCESSOR_CODES = {
  late: 'processor_silent',
  unusable: 'processor_unusable',
  refused: 'processor_refused',
} as const

/** The processor encrypts the token to the merchant: nothing here can read it. */
export async function mintToken(
  { offer, key, subject, url }: MintRequest,
  { ports, requestId }: Outside,
): Promise<MintedToken | PayProblem> {
  const encryptionKey = encryptionKeyOf({ ...key })
  const { networkToken } = ports.cardProcessor(subject.mode)
  if ('problem' in encryptionKey || !networkToken)
    throw new Error('a merchant’s key was not checked, or no token')
  const now = new Date(subject.now)
  const expiresAt = after(now, TOKEN_MS)
  const { processorCardId, intentId, cardId, credentialId } = subject
  const binding = { challengeId: offer.challenge.id, intentId, cardId }
  const issued = await networkToken(
    { processorCardId, expiresAt, form: { kind: 'mpp', kid: key.kid, binding } },
    { key: encryptionKey, intentId, merchantHost: plainHost(url) },
    { reference: credentialId, requestId, now },
  )
  if (isFailure(issued)) {
    const code = PROCESSOR_CODES[issued.failure]
    return { code, message: mintRefusals[code][1] }
  }
  return { ...credentialOf(offer, issued), issued, expiresAt, keyThumbprint: encryptionKey.thumbprint }
}

function credentialOf({ challenge }: CardOffer, issued: IssuedNetworkToken) {
  const credential = writeCredential({
    challenge,
    payload: {
      encryptedPayload: issued.jwe,
      network: issued.network,
      panLastFour: issued.last4,
      panExpirationMonth: String(issued.expMonth).padStart(2, '0'),
      panExpirationYear: String(issued.expYear),
    },
  })
  return {
    header: credentialHeaderOf(challenge).toLowerCase(),
    credential,
    digest: credentialDigest(credential),
  }
}
