import type { Compose, Service } from './compose.ts'
import type { Image } from './image.ts'

export interface Parts {
  readonly image: Image
  /** The folder with the programs of Temporal's images; with the development server, its binary. */
  readonly temporal: string
  /** The program that runs in place of each image. */
  readonly programs: Readonly<Record<string, (start: Start) => Promise<void>>>
  readonly folder: string
  readonly tell: (line: string) => void
  readonly closeLater: (close: () => unknown) => void
  /** Called when a service ends that should keep running. */
  readonly onEnd: (name: string) => void
}

/** The local addresses of the running services: `temporal:7233` is at `127.0.0.1:…`. */
export type Addresses = Map<string, string>

export interface Start extends Parts {
  readonly name: string
  readonly service: Service
  readonly compose: Compose
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly addresses: Addresses
}
