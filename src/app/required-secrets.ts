import { type Settings, WrongSetting } from '../platform/settings/settings.ts'

/** What one process could make up for itself, several must be given. */
export function inCommon({ databaseUrl, dashboardSecret, secretKey, encryptionKey }: Settings) {
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
