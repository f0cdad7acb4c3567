import type { IncomingMessage } from 'node:http'
import { readSessionCookie } from '../../kernel/contract/session-cookie.ts'

export interface RequestCredentials {
  readonly authorization: string | undefined
  readonly dashboardSecret: string | undefined
  /** Missing for calls within the process. */
  readonly browser?: BrowserCredentials
  readonly sent?: RequestTransport
}

export interface RequestTransport {
  readonly proof: string | undefined
  readonly method: string
  /** The URLs by which clients may know the requested one, without the query. */
  readonly addresses: readonly string[]
}

export interface BrowserCredentials {
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

export function readRequestCredentials(
  { method = '', url = '', headers }: IncomingMessage,
  origins: PageOrigins,
  ownUrls: OwnUrls,
): RequestCredentials {
  const ours = origins()
  const { authorization, cookie, origin } = headers
  const fetchSite = singleHeader(headers['sec-fetch-site'])
  return {
    authorization,
    dashboardSecret: singleHeader(headers['x-dashboard-secret']),
    browser: {
      session: readSessionCookie(cookie, ours[0]),
      isReading: method === 'GET' || method === 'HEAD',
      isOfOurPage:
        fetchSite === undefined ? origin !== undefined && ours.includes(origin) : fetchSite === 'same-origin',
      isBackground: headers['x-background'] === 'true',
    },
    sent: {
      proof: singleHeader(headers.dpop),
      method,
      addresses: headers.dpop === undefined ? [] : ownUrls().map(own => own + url),
    },
  }
}

export const singleHeader = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(', ') : header
