/** Code of the error of a request that a server did not answer in time. Source: ErrorCode of the protocol's library. */
export const REQUEST_TIMEOUT = -32_001;
