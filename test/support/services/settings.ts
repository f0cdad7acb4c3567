export const DASHBOARD_SECRET = 'dashboard-secret-of-the-tests'

/** All requests of a test come from one address, many at once. */
export const UNLIMITED = { RATE_LIMIT_PER_MINUTE: '1000000', CONNECTIONS_PER_ADDRESS: '10000' }
export const ENCRYPTION_KEY = '7e'.repeat(32)

export const secretSettings = {
  dashboardSecret: DASHBOARD_SECRET,
  cursorSigningKey: 'a-secret-key-of-the-tests-0123456789',
  encryptionKey: ENCRYPTION_KEY,
}

/** A real rail needs them. */
export const IN_GERMANY = { DATABASE_COUNTRY: 'DE', TEMPORAL_COUNTRY: 'DE', FILES_COUNTRY: 'DE' }
