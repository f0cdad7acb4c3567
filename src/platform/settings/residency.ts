import { z } from 'zod'
import { euCountries } from '../../values/countries.ts'
import { hasRealRail, kycProviderOf, type RailSettings } from './external-systems.ts'
import { documentSetting, InvalidSettingError } from './setting.ts'

const countryOf = (store: string, beside = '') =>
  documentSetting(z.enum(euCountries).optional(), {
    meaning: `EU country of ${store}. Required${beside} with a real rail or \`KYC_PROVIDER=stripe\`.`,
    allowed: 'a country code of the EU (DE, FR, …)',
    otherwise: 'not stated',
  })

export const residencySettings = {
  databaseCountry: countryOf('the database'),
  temporalCountry: countryOf('Temporal’s data'),
  filesCountry: countryOf('the files (`FILES_DIR` or `FILES_URL`)'),
  mailCountry: countryOf('the mail server', ', beside `SMTP_URL`,'),
}

type ResidencySettings = RailSettings & {
  readonly [Name in keyof typeof residencySettings]?: z.output<(typeof residencySettings)[Name]>
} & { readonly smtpUrl?: string | undefined }

/** Real money, and people whom Stripe really identifies, are real data: `X-Data-Residency: EU` must then be true. */
export function assertDataResidency(settings: ResidencySettings): void {
  if (!hasRealRail(settings) && kycProviderOf(settings) !== 'stripe') return
  const { databaseCountry, temporalCountry, filesCountry, mailCountry, smtpUrl } = settings
  const countries = {
    DATABASE_COUNTRY: databaseCountry,
    TEMPORAL_COUNTRY: temporalCountry,
    FILES_COUNTRY: filesCountry,
    ...(smtpUrl !== undefined && { MAIL_COUNTRY: mailCountry }),
  }
  const unset = Object.entries(countries).flatMap(([name, country]) => (country ? [] : [name]))
  if (unset.length > 0)
    throw new InvalidSettingError(
      `This installation keeps data of real people or money, and each response states that all data stays in the EU. Set ${unset.join(', ')} to the EU country where this data is kept, for example DE.`,
    )
}

export const dataCountriesOf = ({
  databaseCountry,
  temporalCountry,
  filesCountry,
  mailCountry,
}: ResidencySettings) => ({
  database: databaseCountry ?? null,
  temporal: temporalCountry ?? null,
  files: filesCountry ?? null,
  mail: mailCountry ?? null,
})
