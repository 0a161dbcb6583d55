/* The bytes that take JSON apart. */

export const QUOTE = 0x22
export const COMMA = 0x2c
export const MINUS = 0x2d
export const ZERO = 0x30
export const NINE = 0x39
export const COLON = 0x3a
export const OPEN_BRACKET = 0x5b
export const BACKSLASH = 0x5c
export const CLOSE_BRACKET = 0x5d
export const LETTER_N = 0x6e
export const LETTER_T = 0x74
export const OPEN_BRACE = 0x7b
export const CLOSE_BRACE = 0x7d
