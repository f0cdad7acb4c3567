import type { IncomingMessage } from 'node:http'
import { sessionIn } from '../../kernel/contract/session-cookie.ts'

export interface RequestCredentials {
  readonly authorization: string | undefined
  readonly dashboardSecret: string | undefined
  /** Missing for calls within the process. */
  readonly browser?: Browser
  readonly sent?: Sent
}

export interface Sent {
  readonly proof: string | undefined
  readonly method: string
  /** The URLs by which clients may know the requested one, without the query. */
  readonly addresses: readonly string[]
}

export interface Browser {
  readonly session: string | undefined
  readonly isReading: boolean
  /**
   * Whether one of the service's own pages sent it. The browser says so (`Sec-Fetch-Site`, `Origin`), and a
   * page cannot forge that.
   */
  readonly isOfOurPage: boolean
  readonly isBackground: boolean
}

export type PageOrigins = () => readonly [string, ...string[]]

/** The public address, and the addresses where the service listens, without a trailing slash. */
export type OwnUrls = () => readonly string[]

export function presentedBy(
  { method = '', url = '', headers }: IncomingMessage,
  origins: PageOrigins,
  ownUrls: OwnUrls,
): RequestCredentials {
  const ours = origins()
  const { authorization, cookie, origin } = headers
  const fetchSite = single(headers['sec-fetch-site'])
  return {
    authorization,
    dashboardSecret: single(headers['x-dashboard-secret']),
    browser: {
      session: sessionIn(cookie, ours[0]),
      isReading: method === 'GET' || method === 'HEAD',
      isOfOurPage:
        fetchSite === undefined ? origin !== undefined && ours.includes(origin) : fetchSite === 'same-origin',
      isBackground: headers['x-background'] === 'true',
    },
    sent: {
      proof: single(headers.dpop),
      method,
      addresses: headers.dpop === undefined ? [] : ownUrls().map(own => own + url),
    },
  }
}

export const single = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(', ') : header
