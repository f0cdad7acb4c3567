import { z } from 'zod'
import { about, WrongSetting } from './setting.ts'

/** Who verifies the identity of owners. */
export const identitySettings = {
  kycProvider: about(z.enum(['sandbox', 'manual']).optional(), {
    meaning:
      'Who verifies that people are who they say, in both modes: whoever is verified may make live keys. With `manual` operators decide. `sandbox` decides by magic names, and is refused beside a real rail.',
    allowed: 'sandbox, manual',
    otherwise:
      'manual beside a real rail (SEPA_RAIL=files, CARD_PROCESSOR=stripe, COLLECTION_IBAN), else sandbox',
  }),
}

interface Rails {
  readonly sepaRail?: string | undefined
  readonly cardProcessor?: string | undefined
  readonly collectionIban?: string | undefined
  readonly kycProvider?: 'sandbox' | 'manual' | undefined
}

/** Whether live money can be real here: a rail that only pretends moves none. */
const hasRealRail = ({ sepaRail, cardProcessor, collectionIban }: Rails): boolean =>
  sepaRail === 'files' || cardProcessor === 'stripe' || collectionIban !== undefined

export const kycProviderOf = (settings: Rails): 'sandbox' | 'manual' =>
  settings.kycProvider ?? (hasRealRail(settings) ? 'manual' : 'sandbox')

/** A magic name must not open keys that move real money. */
export function assertKycProvider(settings: Rails): void {
  if (kycProviderOf(settings) === 'sandbox' && hasRealRail(settings))
    throw new WrongSetting(
      'KYC_PROVIDER=sandbox verifies whoever has a magic name, and real money can be moved here: set KYC_PROVIDER=manual, or take SEPA_RAIL=files, CARD_PROCESSOR=stripe and COLLECTION_IBAN away.',
    )
}
