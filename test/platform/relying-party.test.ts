import { describe, expect, test } from '@jest/globals'
import { browserPageAddresses } from '../../src/app/own-addresses.ts'
import { InvalidSettingError, readSettings } from '../../src/platform/settings/settings.ts'

const pages = (env: Record<string, string>, listensAt = 'http://127.0.0.1:8080') => {
  const settings = readSettings(env)
  const warnings: string[] = []
  const publicUrl = () => settings.publicUrl?.replace(/\/+$/, '') ?? listensAt
  return { ...browserPageAddresses(settings, { publicUrl }, text => warnings.push(text)), warnings }
}

describe('the relying party', () => {
  test('is localhost with our port where no address is set', () => {
    const { relyingParty, pageUrl, publicUrl, warnings } = pages({})
    expect(relyingParty()).toEqual({
      id: 'localhost',
      name: 'Agent Payments',
      origin: 'http://localhost:8080',
      origins: ['http://localhost:8080'],
      unavailable: null,
    })
    expect(pageUrl('/login#con')).toBe('http://localhost:8080/login#con')
    expect([publicUrl(), warnings]).toEqual(['http://127.0.0.1:8080', []])
  })

  test('is the host of PUBLIC_URL, and PASSKEY_ORIGINS may use its passkeys', () => {
    const env = {
      PUBLIC_URL: 'https://example.eu/pay/',
      PASSKEY_ORIGINS: 'https://example.de, https://example.fr:8443/',
    }
    const { relyingParty, pageUrl, warnings } = pages(env)
    expect(relyingParty()).toMatchObject({
      id: 'example.eu',
      origin: 'https://example.eu',
      origins: ['https://example.eu', 'https://example.de', 'https://example.fr:8443'],
      unavailable: null,
    })
    expect(pageUrl('/login')).toBe('https://example.eu/pay/login')
    expect(warnings).toEqual([])
  })

  test.each([
    ['http://127.0.0.1:8080', 'names an IP address'],
    ['https://[2001:db8::1]', 'names an IP address'],
    ['https://10.1.2.3', 'names an IP address'],
    ['http://pay.example', 'begins with http'],
  ])('of %s can have no passkeys, which is told at the start', (url, why) => {
    const { relyingParty, warnings } = pages({ PUBLIC_URL: url })
    expect(relyingParty().unavailable).toContain(why)
    expect(warnings).toEqual([expect.stringContaining(why)])
  })

  test.each(['http://localhost:9000', 'https://localhost'])('of %s can have them', url => {
    expect(pages({ PUBLIC_URL: url })).toMatchObject({ warnings: [] })
  })

  test.each(['example.eu', 'http://example.eu', 'https://example.eu/login', 'https://a@example.eu'])(
    'takes no %s as a further origin',
    origin => expect(() => pages({ PASSKEY_ORIGINS: origin })).toThrow(InvalidSettingError),
  )
})
