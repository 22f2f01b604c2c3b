/* For btvirt, on kernels without a socket for cryptography: it opens two when a controller is made, and uses them only
 * where somebody pairs. Preloaded, this gives it sockets that do nothing. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/socket.h>

typedef int (*open_socket)(int, int, int);
typedef int (*bind_socket)(int, const struct sockaddr *, socklen_t);

int socket(int domain, int type, int protocol)
{
    open_socket next = (open_socket)dlsym(RTLD_NEXT, "socket");
    return domain == AF_ALG ? next(AF_UNIX, type, 0) : next(domain, type, protocol);
}

int bind(int fd, const struct sockaddr *address, socklen_t length)
{
    bind_socket next = (bind_socket)dlsym(RTLD_NEXT, "bind");
    return address->sa_family == AF_ALG ? 0 : next(fd, address, length);
}
