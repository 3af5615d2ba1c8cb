/** A certificate for `localhost` that signs itself, and its key: `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500 -subj /CN=localhost -addext subjectAltName=DNS:localhost`. */
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBlTCCATugAwIBAgIUdND8rJVo8nVtKvQiQvexXGZmaeIwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMzA5MjUwNloYDzIxMjYxMDMw
MDkyNTA2WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASS82v1a1OPl7G6JVL0VS+74RrA29QisdtSnGn1UNianLeXvxSqSAWm
9SVYKeGKZQmkhSLIwc9+j0mynPajtV0Lo2kwZzAdBgNVHQ4EFgQUAyeqryVdH2zf
HfUBbaecK0xsKSAwHwYDVR0jBBgwFoAUAyeqryVdH2zfHfUBbaecK0xsKSAwDwYD
VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglsb2NhbGhvc3QwCgYIKoZIzj0EAwID
SAAwRQIgcaeXzO52BhLOvLYbUkfZUvDkY4lR/kh0TOScnAMV33ICIQCzVsXZ1hTm
D8CMWuQVbIpYBgpZlw8FapqUgcbOczINSA==
-----END CERTIFICATE-----`;

/** Nobody trusts it, so it is no secret. */
export const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgbc5SZrkH9C6hvIdd
Imggeas58Tc2vhVNR9wWb8Rs72GhRANCAASS82v1a1OPl7G6JVL0VS+74RrA29Qi
sdtSnGn1UNianLeXvxSqSAWm9SVYKeGKZQmkhSLIwc9+j0mynPajtV0L
-----END PRIVATE KEY-----`;
