import { countCustomers } from '../identity/customers/index.ts'
import { sqlOn } from '../kernel/database/prepared-sql.ts'
import type { OpenDatabase } from '../platform/database.ts'
import type { Logger } from '../platform/log.ts'
import { hasRealRail, kycProviderOf } from '../platform/settings/external-systems.ts'
import { InvalidSettingError, type Settings } from '../platform/settings/settings.ts'

/** `KYC_PROVIDER=none` verifies every submission, so it must not serve customers who do not operate it. */
export async function requireOnlyCustomer(
  settings: Settings,
  database: OpenDatabase,
  log: Logger,
): Promise<void> {
  if (kycProviderOf(settings) !== 'none') return
  const customers = await countCustomers(sqlOn(database.pool))
  if (customers > 1) {
    await database.close()
    throw new InvalidSettingError(
      `KYC_PROVIDER=none verifies one customer without a check, and this installation has ${customers}. Set KYC_PROVIDER=manual.`,
    )
  }
  if (hasRealRail(settings))
    log.warn(
      'KYC_PROVIDER=none: this installation moves real money, and the identity of its customer is unchecked.',
    )
}
