import { type Settings, WrongSetting } from '../platform/settings/settings.ts'

/** Secrets that several processes share. A single process may generate them; several need them configured. */
export function requiredSecrets({ databaseUrl, dashboardSecret, secretKey, encryptionKey }: Settings) {
  if (databaseUrl && dashboardSecret && secretKey && encryptionKey)
    return { databaseUrl, dashboardSecret, secretKey, encryptionKey }
  const wanted = {
    DATABASE_URL: databaseUrl,
    DASHBOARD_SECRET: dashboardSecret,
    SECRET_KEY: secretKey,
    ENCRYPTION_KEY: encryptionKey,
  }
  const missing = Object.entries(wanted).flatMap(([name, value]) => (value ? [] : [name]))
  throw new WrongSetting(`Not set: ${missing.join(', ')}. Give every process the same.`)
}
