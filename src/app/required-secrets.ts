import { InvalidSettingError, type Settings } from '../platform/settings/settings.ts'

/** Secrets that several processes share. A single process may generate them; several need them configured. */
export function requiredSecrets({ databaseUrl, dashboardSecret, cursorSigningKey, encryptionKey }: Settings) {
  if (databaseUrl && dashboardSecret && cursorSigningKey && encryptionKey)
    return { databaseUrl, dashboardSecret, cursorSigningKey, encryptionKey }
  const wanted = {
    DATABASE_URL: databaseUrl,
    DASHBOARD_SECRET: dashboardSecret,
    CURSOR_SIGNING_KEY: cursorSigningKey,
    ENCRYPTION_KEY: encryptionKey,
  }
  const missing = Object.entries(wanted).flatMap(([name, value]) => (value ? [] : [name]))
  throw new InvalidSettingError(`Not set: ${missing.join(', ')}. Give every process the same.`)
}
