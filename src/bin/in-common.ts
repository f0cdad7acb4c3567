import { type Settings, WrongSetting } from '../platform/settings.ts'

/** What one process could make up for itself, several must be given. */
export function inCommon({ databaseUrl, dashboardSecret, secretKey }: Settings) {
  if (databaseUrl && dashboardSecret && secretKey) return { databaseUrl, dashboardSecret, secretKey }
  const wanted = { DATABASE_URL: databaseUrl, DASHBOARD_SECRET: dashboardSecret, SECRET_KEY: secretKey }
  const missing = Object.entries(wanted).flatMap(([name, value]) => (value ? [] : [name]))
  throw new WrongSetting(`Not set: ${missing.join(', ')}. Give every process the same.`)
}
