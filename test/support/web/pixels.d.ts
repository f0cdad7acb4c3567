interface Picture {
  readonly width: number
  readonly height: number
  readonly pixels: string
}

export function pixelsOf(png: string): Promise<Picture>
